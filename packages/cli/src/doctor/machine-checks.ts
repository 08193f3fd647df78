/** Checks of the machine: Node, terminal, disk, database, sandbox. */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { openCommands } from "../commands/open-commands.ts";
import { openDirectory } from "../run/workplace.ts";
import { databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { homeOf } from "../state/home.ts";
import { bytes } from "../terminal/amounts.ts";
import { type Check, note, ok, problem } from "./check.ts";

const OLDEST = [20, 19] as const;

export function nodeCheck(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return ok("Node", version);
  return problem(
    "Node",
    `${version}, which is too old`,
    `Install Node ${OLDEST.join(".")} or newer: https://nodejs.org`,
  );
}

export function terminalCheck(
  { stdin, stderr }: Pick<NodeJS.Process, "stdin" | "stderr">,
  { TERM = "", LC_ALL, LC_CTYPE, LANG, NO_COLOR }: NodeJS.ProcessEnv,
): Check {
  if (!stdin.isTTY || !stderr.isTTY)
    return note(
      "Terminal",
      "none: no person can be asked here",
      "Run it in a terminal to approve calls yourself.",
    );
  if (TERM === "dumb" || TERM === "")
    return note(
      "Terminal",
      "TERM is dumb or not set: plain lines only",
      "Set TERM, for example to xterm-256color.",
    );
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  const size = `${stderr.columns}×${stderr.rows}`;
  if (process.platform !== "win32" && !/utf-?8/i.test(locale))
    return note("Terminal", `${TERM}, ${size}, no UTF-8 locale`, "Set LANG, for example to C.UTF-8.");
  return ok("Terminal", `${TERM}, ${size}${NO_COLOR ? ", without colours (NO_COLOR)" : ""}`);
}

const LEAST_FREE = 500 * 1024 * 1024;

export async function diskCheck(environment: NodeJS.ProcessEnv): Promise<Check> {
  const home = homeOf(environment);
  const place = await existing(home);
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const words = `${bytes(free)} free for ${home}`;
  if (!(await isWritable(place)))
    return problem(
      "Disk",
      `${home} cannot be written`,
      "Set DEEPWRIGHT_HOME to a directory you can write to.",
    );
  if (free >= LEAST_FREE) return ok("Disk", words);
  return problem("Disk", words, "Free some space, or remove old threads: deepwright threads prune --help.");
}

/** The nearest directory above that is there. */
async function existing(path: string): Promise<string> {
  const isThereNow = await access(path).then(
    () => true,
    () => false,
  );
  return isThereNow || dirname(path) === path ? path : existing(dirname(path));
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** A database that is not there yet is made by the first run, not here. */
export async function databaseCheck(environment: NodeJS.ProcessEnv): Promise<Check> {
  const database = databaseOf(undefined, environment);
  const name = databaseName(database);
  if (!isThere(database)) return ok("Database", `${name} (made by the first run)`);
  try {
    const saver = await openDatabase(database);
    await saver.storage.listThreads({ limit: 1 });
    await saver.close();
    return ok("Database", name);
  } catch (error) {
    return problem(
      "Database",
      `${name} cannot be used: ${(error as Error).message}`,
      database.kind === "postgres"
        ? "Name another with --db or DEEPWRIGHT_DB."
        : "Name another with --db or DEEPWRIGHT_DB, or move the file away.",
    );
  }
}

const SANDBOX_MS = 20_000;

/** Opens the sandbox and runs one command in it. */
export async function sandboxCheck(directory: string): Promise<Check> {
  const { disk, controlPaths } = await openDirectory(directory);
  const signal = AbortSignal.timeout(SANDBOX_MS);
  const request = { kind: "os", isAskedFor: false, hosts: [], directory, files: disk, controlPaths } as const;
  const opened = await openCommands({
    ...request,
    threadId: "doctor",
    isKept: false,
    signal,
    onWait: () => {},
  });
  const remedy = "See docs/sandboxes.md; or use --sandbox docker, or --sandbox none without isolation.";
  if (opened === undefined || "why" in opened)
    return problem("Sandbox", opened?.why.replace("No commands in this run: ", "") ?? "none", remedy);
  try {
    const { exitCode, output } = await opened.execute("true", { signal });
    if (exitCode === 0) return ok("Sandbox", opened.line.replace(/^Commands: /, ""));
    return problem("Sandbox", `a command failed in it: ${output}`, remedy);
  } finally {
    await opened.close();
  }
}
