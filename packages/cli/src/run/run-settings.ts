/** Settings, hooks, agents and commands of the directory a run works in. `deepwright serve` and the app use the same. */
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { BackendProtocol } from "deepwright";
import { usageError } from "../command-error.ts";
import { type Hooks, openHooks } from "../hooks/hooks.ts";
import { loadStoredKeys } from "../login/stored-keys.ts";
import { type CommandJudge, commandJudge } from "../settings/command-rules.ts";
import { heldLine } from "../settings/held-words.ts";
import { type HeldSettings, type LoadedSettings, loadSettings } from "../settings/load-settings.ts";
import type { Settings } from "../settings/schema.ts";
import { trustSettings } from "../settings/settings-trust.ts";
import { homeOf } from "../state/home.ts";
import { confirmed } from "../terminal/confirm.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { SETTINGS } from "../trust/instruction-files.ts";
import { settingsLines } from "../trust/settings-lines.ts";
import { openTrustRecord } from "../trust/trust-record.ts";
import { findUserFiles, type UserFilesRequest } from "../user-files/find-user-files.ts";
import { type UserAgent, userAgents } from "../user-files/user-agents.ts";
import { type UserCommand, userCommands } from "../user-files/user-commands.ts";

export interface RunSettings {
  readonly settings: Settings;
  readonly loaded: LoadedSettings;
  readonly hooks: Hooks | undefined;
  /** Undefined where the settings have no command rules. */
  readonly judge: CommandJudge | undefined;
  /** Files of the directory that hooks run, relative to it: an agent must not change them unasked. */
  readonly hookFiles: readonly string[];
}

/** Shows the lines and returns whether the person trusts them. */
export type AskTrust = (lines: readonly string[]) => Promise<boolean>;

export interface RunSettingsRequest {
  /** Its real path. */
  readonly directory: string;
  readonly console: Console;
  /** A person can be asked. */
  readonly isAttended: boolean;
  /** The person trusts the directory in this run. */
  readonly isTrusted: boolean;
  /** Asks instead of a question at the terminal; where the answer is no, the settings are left out. */
  readonly askTrust?: AskTrust | undefined;
}

/**
 * Asks about a project's settings that are not trusted. Throws if no person can be asked and they would run something.
 */
export async function openRunSettings(request: RunSettingsRequest): Promise<RunSettings> {
  const { directory, console, isTrusted } = request;
  await loadStoredKeys(process.env);
  const place = { directory, home: homeOf(process.env), env: process.env, isTrusted };
  let loaded = await loadSettings(place);
  if (loaded.held && (await agreed(request, loaded, loaded.held))) loaded = await loadSettings(place);
  const words = heldLine(loaded.held);
  if (words !== undefined) console.line(console.colours.yellow(words));
  const { settings } = loaded;
  const onWarning = (warning: string): void =>
    console.line(console.colours.yellow(`Warning: ${safeLine(warning, 500)}`));
  return {
    settings,
    loaded,
    hooks: openHooks({ settings: settings.hooks, directory, env: process.env, onWarning }),
    judge: commandJudge(settings.commands),
    hookFiles: hookFiles(settings.hooks, directory),
  };
}

async function agreed(
  { directory, console, isAttended, askTrust }: RunSettingsRequest,
  { files }: LoadedSettings,
  held: HeldSettings,
): Promise<boolean> {
  if (!isAttended && !askTrust) {
    if (held.runs.length === 0) return false;
    throw usageError(
      `The settings of this directory would run programs or call servers, and you have not trusted them as they are now: ${held.runs.join(", ")} in ${held.files.map((path) => safeLine(path)).join(" and ")}.`,
      "Look at them and trust them: deepwright trust. For one run: --trust.",
    );
  }
  const title = console.colours.bold(`? Settings of ${safeLine(directory)} that run or allow something`);
  const projects = files.flatMap(({ kind, text = "" }) =>
    kind === "user" ? [] : [{ path: SETTINGS[kind === "project" ? 0 : 1] ?? "", hash: "", bytes: 0, text }],
  );
  const lines = [title, ...(await settingsLines(projects))];
  const ask = askTrust ?? ((words: readonly string[]) => askedAtTerminal(console, words));
  if (!(await ask(lines))) return false;
  await trustSettings(directory, homeOf(process.env), files);
  return true;
}

function askedAtTerminal(console: Console, lines: readonly string[]): Promise<boolean> {
  for (const line of lines) console.line(line);
  return confirmed(TRUST_QUESTION, process);
}

export const TRUST_QUESTION = "Trust them as they are now?";

/** Words of the commands that name files of the directory. */
function hookFiles(hooks: Settings["hooks"] = {}, directory: string): readonly string[] {
  const commands = Object.values(hooks).flatMap((list) => (list ?? []).map(({ command }) => command));
  const words = commands.flatMap((command) => command.split(/[\s;|&<>()"'`]+/)).filter((word) => word !== "");
  const inside = words
    .map((word) => relative(directory, resolve(directory, word)))
    .filter((name) => name !== "" && !name.startsWith("..") && existsSync(join(directory, name)));
  return [...new Set(inside)];
}

export interface UserFilesOfRun {
  readonly agents: readonly UserAgent[];
  readonly commands: readonly UserCommand[];
  /** About files that do not count; undefined: all do. */
  readonly line: string | undefined;
}

/** `project` holds the files of the directory; absent: only the user's own count. */
export async function openUserFiles(
  directory: string,
  project: BackendProtocol | undefined,
  isTrusted: boolean,
): Promise<UserFilesOfRun> {
  const home = homeOf(process.env);
  const kept = once(() => openTrustRecord(home).get(directory));
  const request: UserFilesRequest = { home, project, kept, isTrusted };
  const [agents, commands] = await Promise.all([
    findUserFiles("agents", request),
    findUserFiles("commands", request),
  ]);
  const left = agents.filter((file) => !file.isTrusted).map(({ path }) => safeLine(path, 120));
  const line =
    left.length === 0
      ? undefined
      : `Not trusted: ${left.join(", ")} ${left.length > 1 ? "are" : "is"} left out. To look at it and trust it: deepwright trust`;
  return { agents: userAgents(agents), commands: userCommands(commands), line };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
