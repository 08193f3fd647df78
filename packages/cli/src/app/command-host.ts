/** The part of the app that its commands use. */
import pc from "picocolors";
import type { CommandHost } from "./commands/command.ts";
import type { AskHost } from "./panels/ask-panel.ts";
import type { Panel } from "./panels/panel.ts";
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

export function commandHost(app: HostingApp, session: Session): CommandHost {
  const { directory, stdout } = app.options;
  return {
    session,
    place: session.place,
    get theme() {
      return app.theme;
    },
    directory,
    commands: app.commands,
    say: (...lines) => app.say(...lines),
    show: (panel) => app.open(panel),
    closePanel: () => app.closePanel(),
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
