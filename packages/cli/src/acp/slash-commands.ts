/** Commands behind a slash in an editor: those of the terminal app that need no screen, and those of the person. */
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { allCommands } from "../app/commands/all-commands.ts";
import type { AppCommand, CommandHost } from "../app/commands/command.ts";
import type { Place } from "../app/session/place.ts";
import type { Content, Session } from "../app/session/session.ts";
import { themeOf } from "../app/view/theme.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { expandCommand } from "../user-files/user-commands.ts";

/** Others show lists, use the clipboard, or go to another thread, which in an editor is another session. */
const OFFERED: ReadonlySet<string> = new Set([
  ...["mode", "model", "approve", "context", "cost", "permissions", "sandbox", "mcp", "skills"],
  ...["agents", "memory", "help", "undo", "redo", "diff", "export"],
]);

/** The session, as far as its commands use it. */
export interface SlashHost {
  readonly current: Session;
  readonly place: Place;
  readonly directory: string;
  say(text: string): void;
  changeModel(model: string): Promise<void>;
}

const CONTINUE: AppCommand = {
  name: "continue",
  description: "decide about calls that wait for approval",
  run: ({ say }) => say("Nothing waits for your approval."),
};

function commands(): readonly AppCommand[] {
  return [...allCommands.filter(({ name }) => OFFERED.has(name)).map(inSession), CONTINUE];
}

/** A plan is carried out in its own session. */
function inSession(command: AppCommand): AppCommand {
  return command.name === "approve" ? { ...command, usage: "" } : command;
}

export function availableCommands({ local }: Place): AvailableCommand[] {
  const own = (local?.userCommands ?? []).map(({ name, description, argumentHint }) => ({
    name,
    description: safeLine(description, 200),
    ...(argumentHint !== undefined && { input: { hint: safeLine(argumentHint, 100) } }),
  }));
  const ours = commands().map(({ name, description, usage }) => ({
    name,
    description,
    ...(usage && { input: { hint: usage } }),
  }));
  return [...ours, ...own.filter(({ name }) => !ours.some((one) => one.name === name))];
}

/** The text of a command the person wrote as a file; undefined: the words name none. */
export function expandedPrompt(words: string, { local }: Place): Content | undefined {
  return words.startsWith("/") ? expandCommand(words, local?.userCommands ?? [])?.text : undefined;
}

/** False: the words are no command of ours. */
export async function ranCommand(words: string, session: SlashHost): Promise<boolean> {
  const [, name, rest = ""] = /^\/([a-z][\w:-]*)(?:\s+([\s\S]*))?$/i.exec(words) ?? [];
  const found = commands().find((one) => one.name === name);
  if (!found) return false;
  try {
    await found.run(hostOf(session), found.name === "approve" ? "" : rest.trim());
  } catch (error) {
    session.say(safeLine((error as Error).message, 1_000));
  }
  return true;
}

function hostOf(editorSession: SlashHost): CommandHost {
  const { current: session, place, directory } = editorSession;
  return {
    session,
    place,
    theme: themeOf("dark", false),
    directory,
    commands: commands(),
    working: () => () => {},
    say: (...lines) => editorSession.say(`${lines.join("  \n")}\n`),
    show: () => editorSession.say("This needs the terminal app."),
    closePanel: () => {},
    confirm: async () => false,
    replay: () => {},
    changeModel: (model) => editorSession.changeModel(model),
    setText: () => {},
    changed: () => {},
    copy: () => {},
    leave: () => {},
  };
}
