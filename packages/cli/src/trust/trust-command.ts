/** `deepwright trust`: shows what would be trusted, and asks. Returns the exit code. */
import { resolve } from "node:path";
import { suspicions } from "deepwright/approval-warnings";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import { homeOf } from "../state/home.ts";
import { bytes, count } from "../terminal/amounts.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { changedFiles } from "./directory-trust.ts";
import {
  type InstructionFile,
  mainFiles,
  memoryFilesOf,
  ruleFiles,
  SETTINGS,
  settingsFilesOf,
  TooMuch,
  userFilesOf,
} from "./instruction-files.ts";
import { memoryNames, settingsLines } from "./settings-lines.ts";
import type { RawTrustOptions } from "./trust-command-line.ts";
import { openTrustRecord, type TrustedDirectory, type TrustRecord } from "./trust-record.ts";

export async function trustCommand(given: string | undefined, options: RawTrustOptions): Promise<ExitCode> {
  if (options.list && (options.revoke || given !== undefined))
    throw usageError("--list shows all directories: give it alone.");
  const console = new Console(process.stdout, process.stderr, process.env);
  const record = openTrustRecord(homeOf(process.env));
  if (options.list) return list(record, console);
  if (options.revoke) return revoke(record, given ?? ".", console);
  return trust(record, await realDirectory(given ?? "."), options, console);
}

async function trust(
  record: TrustRecord,
  directory: string,
  { yes }: RawTrustOptions,
  console: Console,
): Promise<ExitCode> {
  const files = await filesOf(directory);
  if (files.length === 0) {
    console.line("There is nothing to trust here: no AGENTS.md, skills, agents, commands or settings.");
    return EXIT.done;
  }
  const kept = await record.get(directory);
  const before = new Map(kept?.files);
  console.line(console.colours.bold(`Instructions for agents and settings in ${safeLine(directory)}`));
  for (const line of fileLines(files, kept && before)) console.line(line);
  for (const line of await settingsLines(files)) console.line(line);
  if (kept && files.length === before.size && files.every(({ path, hash }) => before.get(path) === hash)) {
    console.line("They are already trusted as they are now.");
    return EXIT.done;
  }
  if (!yes && !(await confirmed("Trust them as they are now?", process))) return EXIT.failed;
  await record.put(directory, files);
  console.line(
    `${count(files.length, "file")} trusted. After a change they are data again until you trust them.`,
  );
  return EXIT.done;
}

async function filesOf(directory: string): Promise<readonly InstructionFile[]> {
  const { ProjectFiles } = await import("../run/project-files.ts");
  const project = new ProjectFiles({ rootDir: directory, virtualMode: true });
  try {
    const found = [...(await mainFiles(project)), ...(await ruleFiles(project))];
    const settings = await settingsFilesOf(project);
    const memory = await memoryFilesOf(project, await memoryNames(settings));
    const all = [...found, ...(await userFilesOf(project)), ...memory, ...settings];
    return all.filter(({ path }, index) => all.findIndex((one) => one.path === path) === index);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    throw new CommandError("The skills of this directory have more than 1,000 files or 16 MB.", {
      hint: "That is too much to review: move some of it elsewhere.",
      cause: error,
    });
  }
}

const MOST_SHOWN = 100;

/** Each with its size, its first line and what is odd about it; `before` is what was trusted. */
function fileLines(
  files: readonly InstructionFile[],
  before: ReadonlyMap<string, string> | undefined,
): readonly string[] {
  const news = ({ path, hash }: InstructionFile): string => {
    if (before === undefined || before.get(path) === hash) return "";
    return before.has(path) ? "changed" : "new";
  };
  const columns = ["file", "size", "", "begins with"].map((heading) => ({ heading }));
  const cells = files
    .slice(0, MOST_SHOWN)
    .map((file) => [safeLine(file.path, 120), bytes(file.bytes), news(file), firstLine(file)]);
  const gone = [...(before?.keys() ?? [])].filter((path) => !files.some((file) => file.path === path));
  const odd = files.flatMap(({ path, text = "" }) =>
    suspicions(text).map((warning) => `! ${safeLine(path, 120)}: ${warning}`),
  );
  const more = files.length - cells.length;
  return [
    ...tableLines(columns, cells),
    ...(more > 0 ? [`and ${count(more, "file")} more`] : []),
    ...gone.map((path) => `gone: ${safeLine(path, 120)}`),
    ...odd,
  ].map((line) => `  ${line}`);
}

/** The description of a skill says more than the line that begins its front matter. */
function firstLine({ text }: InstructionFile): string {
  if (text === undefined) return "(not text)";
  const lines = text.split("\n").filter((line) => line.trim() !== "" && line.trim() !== "---");
  const description = text.startsWith("---") && lines.find((line) => line.startsWith("description:"));
  return safeLine(description || lines[0] || "(empty)", 80);
}

async function list(record: TrustRecord, console: Console): Promise<ExitCode> {
  const known = await record.list();
  if (known.length === 0) {
    console.line("No directory is trusted.");
    return EXIT.done;
  }
  const rows = await Promise.all(
    known.map(async (one) => [safeLine(one.path), one.at.slice(0, 10), await stateOf(one)]),
  );
  const columns = [{ heading: "directory" }, { heading: "since" }, { heading: "state" }];
  for (const line of tableLines(columns, rows)) console.result(line);
  return EXIT.done;
}

async function stateOf({ path, files }: TrustedDirectory): Promise<string> {
  const { ProjectFiles } = await import("../run/project-files.ts");
  const isThere = await realDirectory(path).then(
    (real) => real === path,
    () => false,
  );
  if (!isThere) return "gone";
  const project = new ProjectFiles({ rootDir: path, virtualMode: true });
  const known = new Map(files);
  const now = await mainFiles(project).catch(() => undefined);
  if (!now || changedFiles(known, now).length > 0) return "changed: data until you trust it";
  const settings = new Map((await settingsFilesOf(project)).map((file) => [file.path, file.hash]));
  const isSame = SETTINGS.every((name) => known.get(name) === settings.get(name));
  return isSame ? "trusted" : "settings changed: they do not count until you agree";
}

/** Also for a directory that is not there any more. */
async function revoke(record: TrustRecord, given: string, console: Console): Promise<ExitCode> {
  const directory = await realDirectory(given).catch(() => resolve(given));
  const isGone = await record.remove(directory);
  console.line(`${safeLine(directory)} ${isGone ? "is no longer trusted." : "was not trusted."}`);
  return isGone ? EXIT.done : EXIT.failed;
}
