/** The directory a command works in. */
import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { parse } from "node:path";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";

/** Its real path; `given` is the value of --in. */
export async function realDirectory(given: string): Promise<string> {
  const real = await realpath(given).catch(() => undefined);
  if (real === undefined)
    throw usageError(`There is no directory '${safeLine(given)}' to work in.`, "Check --in.");
  if ((await stat(real)).isDirectory()) return real;
  throw usageError(`--in must be a directory, but '${safeLine(given)}' is a file.`);
}

/** A place where a mistake costs more than a project; undefined for any other. `directory` is a real path. */
export async function directoryWarning(directory: string): Promise<string | undefined> {
  const within = "the agent can reach everything in it.";
  if (directory === parse(directory).root)
    return `Warning: this is the root directory of the machine: ${within}`;
  const home = await realpath(homedir()).catch(() => undefined);
  return directory === home ? `Warning: this is your home directory: ${within}` : undefined;
}
