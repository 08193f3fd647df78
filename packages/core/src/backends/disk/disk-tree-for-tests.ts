/** A root with secrets beside it, and a way to see that nothing beside it was touched. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { hashOf } from "./hash-tree-for-tests.ts";

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
