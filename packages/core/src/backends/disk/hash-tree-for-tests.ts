/** A hash of a tree: names, contents, modes and links. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Hashes everything in a directory except one name. */
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
