/** Finds the program of a definition once, so that exactly the program shown to the person runs. */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import { visibleLine } from "deepwright/console-line";
import { ConfigurationError } from "deepwright/errors";
import type { StdioDefinition } from "./definition.ts";

export interface Program {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `directory` is where relative paths begin. A name without a slash is searched in PATH, and never below `directory`. */
export async function programOf(
  definition: StdioDefinition,
  directory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Program> {
  const { command, args = [], env = {} } = definition;
  const cwd = resolve(directory, definition.cwd ?? ".");
  const path = safePath(environment.PATH ?? USUAL_PATH, directory);
  const program = command.includes("/") ? resolve(directory, command) : await search(command, path);
  if (program === undefined || !(await isProgram(program)))
    throw new ConfigurationError("INVALID_OPTION", `There is no program '${visibleLine(command, 200)}'.`, {
      hint: "Install it, or give its whole path as 'command'.",
    });
  // Programs that this program starts by name are searched in the same directories.
  return { program, args, cwd, env: { PATH: path, ...env } };
}

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Leaves out relative directories, and directories inside the project: their content may come from anyone. */
function safePath(path: string, directory: string): string {
  const places = path.split(delimiter).filter((place) => isAbsolute(place) && !isInside(place, directory));
  return places.join(delimiter) || USUAL_PATH;
}

function isInside(place: string, directory: string): boolean {
  const way = relative(directory, place);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}

async function search(name: string, path: string): Promise<string | undefined> {
  for (const place of path.split(delimiter)) {
    const candidate = join(place, name);
    if (await isProgram(candidate)) return candidate;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
