import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Files of the project below these folders, without ignored ones. Git lists them: a walk over the disk fails when a test
 * beside it removes what it has built.
 */
export function projectFiles(...folders: string[]): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", ...folders];
  const listed = execFileSync("git", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return listed.split("\n").filter((path) => path !== "" && existsSync(path));
}
