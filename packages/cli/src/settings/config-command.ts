/** `deepwright config`: shows and changes settings. Returns the exit code. */
import { writeFile } from "node:fs/promises";
import { withoutSecrets } from "deepwright/secrets";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import { homeOf } from "../state/home.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import type { ConfigAction, RawConfigOptions } from "./config-command-line.ts";
import { heldLine } from "./held-words.ts";
import { type LoadedSettings, loadSettings, nested } from "./load-settings.ts";
import { type Origin, valueAt } from "./merge.ts";
import {
  checkedSettings,
  type FileKind,
  parseSettings,
  readSettingsFiles,
  settingsPath,
} from "./settings-file.ts";
import { type Written, writeSetting, writeSettingsText } from "./write-setting.ts";

interface Directories {
  /** The project. */
  readonly directory: string;
  /** The directory of the person's own files of Deepwright. */
  readonly home: string;
}

export async function configCommand(
  action: ConfigAction,
  words: readonly string[],
  options: RawConfigOptions,
): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  if (action === "schema") return printSchema(console);
  const directories = { directory: await realDirectory(options.in ?? "."), home: homeOf(process.env) };
  if (action === "edit") return edit(directories, fileKind(options), console);
  if (action === "set") return set(directories, words, options, console);
  const loaded = await loadSettings({ ...directories, env: process.env });
  return action === "get" ? get(loaded, words[0] ?? "", options, console) : list(loaded, options, console);
}

async function printSchema(console: Console): Promise<ExitCode> {
  const { settingsJsonSchema } = await import("./schema.ts");
  console.result(JSON.stringify(settingsJsonSchema(), undefined, 2));
  return EXIT.done;
}

function fileKind({ user, project, local }: RawConfigOptions): FileKind {
  if ([user, project, local].filter(Boolean).length > 1)
    throw usageError("--user, --project and --local exclude each other.");
  return project ? "project" : local ? "local" : "user";
}

async function set(
  directories: Directories,
  [key = "", text]: readonly string[],
  options: RawConfigOptions,
  console: Console,
): Promise<ExitCode> {
  if (options.unset ? text !== undefined : text === undefined)
    throw usageError("Give a value, or --unset to remove it.");
  const value = options.unset ? undefined : await readValue(key, text ?? "");
  const written = await writeSetting({ ...directories, kind: fileKind(options), key, value });
  sayWritten(written, console);
  return EXIT.done;
}

/** Reads the value as JSON if it is valid for the setting, else as plain text: a model name needs no quotes. */
async function readValue(key: string, text: string): Promise<unknown> {
  const origin = safeLine(key, 120);
  try {
    const value: unknown = JSON.parse(text);
    await checkedSettings(nested(key, value), origin);
    return value;
  } catch (error) {
    const isJson = !(error instanceof SyntaxError);
    const isText = await checkedSettings(nested(key, text), origin).then(
      () => true,
      (problem: unknown) => {
        throw isJson ? error : problem;
      },
    );
    return isText ? text : undefined;
  }
}

function sayWritten({ path, isTrusted }: Written, console: Console): void {
  console.line(`Written: ${safeLine(path)}`);
  if (!isTrusted)
    console.line("The settings of this project are not trusted: look at them, then run deepwright trust.");
}

function get(
  { settings, origins }: LoadedSettings,
  key: string,
  { json }: RawConfigOptions,
  console: Console,
): ExitCode {
  const value = valueAt(settings, key);
  if (value === undefined) {
    console.line(`'${safeLine(key, 120)}' is not set.`);
    return EXIT.failed;
  }
  const keysBelow = [...origins].filter(([known]) => known === key || known.startsWith(`${key}.`));
  const from = unique(keysBelow.flatMap(([, found]) => found));
  if (json) console.json(JSON.stringify({ key, value, from }));
  else {
    console.result(shown(value));
    console.line(console.colours.dim(`from ${originWords(from)}`));
  }
  return EXIT.done;
}

function list(
  { settings, origins, held: untrusted }: LoadedSettings,
  { json }: RawConfigOptions,
  console: Console,
): ExitCode {
  const rows = [...origins].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (json) {
    const values = rows.map(([key, from]) => ({ key, value: valueAt(settings, key), from }));
    console.json(JSON.stringify({ settings: values, ...(untrusted && { notTrusted: untrusted }) }));
    return EXIT.done;
  }
  if (rows.length === 0) console.line("Nothing is set: the defaults count. See deepwright config --help.");
  const cells = rows.map(([key, from]) => [
    safeLine(key, 60),
    safeLine(withoutSecrets(shown(valueAt(settings, key)), process.env), 100),
    originWords(from),
  ]);
  if (cells.length > 0)
    for (const line of tableLines([{ heading: "key" }, { heading: "value" }, { heading: "from" }], cells))
      console.result(line);
  const words = heldLine(untrusted);
  if (words !== undefined) console.line(console.colours.yellow(words));
  return EXIT.done;
}

function shown(value: unknown): string {
  return typeof value === "string" ? safeLine(value) : JSON.stringify(value);
}

function originWords(origins: readonly Origin[]): string {
  return origins.map(({ layer, name }) => `${safeLine(name)}${LAYERS[layer] ?? ""}`).join(", ");
}

const LAYERS: Readonly<Record<string, string>> = {
  user: " (yours)",
  project: " (project)",
  local: " (local)",
};

function unique(origins: readonly Origin[]): readonly Origin[] {
  return origins.filter((one, index) => origins.findIndex(({ name }) => name === one.name) === index);
}

/** Opens a copy in the editor, so that an invalid text never replaces the settings. */
async function edit({ directory, home }: Directories, kind: FileKind, console: Console): Promise<ExitCode> {
  const path = settingsPath(kind, directory, home);
  const files = await readSettingsFiles(directory, home);
  const before = files.find((file) => file.kind === kind)?.text ?? "{}\n";
  const { editedText } = await import("../terminal/editor.ts");
  const edited = await editedText(before, "settings.json", process.env);
  if ("problem" in edited) throw new CommandError(edited.problem);
  if (edited.text === before) {
    console.line("Nothing was changed.");
    return EXIT.done;
  }
  await parseSettings(edited.text, path).catch(async (error: unknown) => {
    const draft = `${path}.rejected`;
    await writeFile(draft, edited.text, { mode: 0o600 });
    console.line(`Your text is kept in ${safeLine(draft)}; the settings are as before.`);
    throw error;
  });
  sayWritten(await writeSettingsText({ kind, directory, home }, edited.text), console);
  return EXIT.done;
}
