/** The part of the app that its commands use. */
import pc from "picocolors";
import { safeLine } from "../terminal/safe-text.ts";
import { errorWords } from "./app-words.ts";
import type { CommandHost } from "./commands/command.ts";
import type { Keybindings } from "./keys/bindings.ts";
import type { AskHost } from "./panels/ask-panel.ts";
import type { Panel } from "./panels/panel.ts";
import type { SubagentHost } from "./panels/subagent-panel.ts";
import type { OwnCommands } from "./session/own-command.ts";
import type { Session } from "./session/session.ts";
import type { CallContext } from "./view/call-rows.ts";
import type { Theme } from "./view/theme.ts";

/** The app, as far as commands and questions use it. */
export interface HostingApp {
  readonly options: {
    readonly directory: string;
    readonly hasColour: boolean;
    readonly stdout: NodeJS.WriteStream;
  };
  readonly theme: Theme;
  readonly context: CallContext;
  readonly commands: CommandHost["commands"];
  readonly editor: { text: string };
  readonly driver: { request(): void };
  readonly keybindings: Keybindings;
  readonly own: OwnCommands;
  say(...lines: string[]): void;
  note(rows: (width: number) => readonly string[]): void;
  open(panel: Panel): void;
  closePanel(): void;
  askText(label: string, initial?: string): Promise<string | undefined>;
  confirm(question: string): Promise<boolean>;
  replay(): void;
  changeModel(model: string): Promise<void>;
  leave(): void;
}

export function askHost(app: HostingApp, session: Session): AskHost {
  return {
    session,
    colours: pc.createColors(app.options.hasColour),
    get theme() {
      return app.theme;
    },
    get context() {
      return app.context;
    },
    note: (rows) => app.note(rows),
    askText: (label, initial) => app.askText(label, initial),
    leave: () => app.closePanel(),
    changed: () => app.driver.request(),
  };
}

/** For the list of subagents. */
export function subagentHost(app: HostingApp, session: Session): SubagentHost {
  const tried = (work: Promise<void>): void =>
    void work.catch((error: Error) => app.say(app.theme.bad(errorWords(error))));
  return {
    get theme() {
      return app.theme;
    },
    get context() {
      return app.context;
    },
    screen: () => session.screen,
    stop: (namespace) => tried(session.stopSubagent(namespace)),
    steer: (namespace) => tried(told(app, session, namespace)),
    close: () => app.closePanel(),
  };
}

async function told(app: HostingApp, session: Session, namespace: string): Promise<void> {
  const { name = "the subagent" } = session.screen.subagents[namespace] ?? {};
  const text = await app.askText(`Tell ${safeLine(name, 40)} · Enter sends · Esc goes back`);
  if (text?.trim()) await session.steerSubagent(namespace, text.trim());
}

export function commandHost(app: HostingApp, session: Session): CommandHost {
  const { directory, stdout } = app.options;
  return {
    session,
    place: session.place,
    get theme() {
      return app.theme;
    },
    directory,
    keybindings: app.keybindings,
    commands: app.commands,
    say: (...lines) => app.say(...lines),
    show: (panel) => app.open(panel),
    changed: () => app.driver.request(),
    closePanel: () => app.closePanel(),
    working: (words, stop) => app.own.begin(words, stop),
    confirm: (question) => app.confirm(question),
    replay: () => app.replay(),
    changeModel: (model) => app.changeModel(model),
    setText: (words) => {
      app.editor.text = words;
    },
    copy: (words) => void stdout.write(`\x1b]52;c;${Buffer.from(words).toString("base64")}\x07`),
    leave: () => app.leave(),
  };
}
