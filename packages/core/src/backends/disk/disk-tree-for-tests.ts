/** A root with secrets beside it, and a way to see that nothing beside it was touched. */
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const SECRET = "TOPSECRET";

export interface DiskTree {
  /** On the host. */
  readonly root: string;
  /** A sibling whose name begins with that of the root. */
  readonly evil: string;
  /** A hash of all that lies beside the root: names, contents, modes and links. */
  outside(): string;
}

/** Is gone when the test is over. */
export function diskTree(): DiskTree {
  const top = mkdtempSync(join(realpathSync(tmpdir()), "deepwright-disk-"));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, "workspace");
  const evil = join(top, "workspace-evil");
  mkdirSync(root);
  mkdirSync(join(evil, "deep"), { recursive: true });
  writeFileSync(join(evil, "secret.txt"), `${SECRET}\n`);
  writeFileSync(join(evil, "deep/other.txt"), `${SECRET} too\n`);
  return { root, evil, outside: () => hashOf(top, "workspace") };
}

/** Of everything in a directory but one name. */
export function hashOf(directory: string, except?: string): string {
  const hash = createHash("sha256");
  const visit = (path: string, shown: string): void => {
    const stats = lstatSync(path);
    hash.update(`${shown}\0${stats.mode}\0`);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isFile()) hash.update(readFileSync(path));
    else if (stats.isDirectory())
      for (const name of readdirSync(path).sort())
        if (shown !== "" || name !== except) visit(join(path, name), `${shown}/${name}`);
  };
  visit(directory, "");
  return hash.digest("hex");
}
