/** What keys do outside of panels. */
import type { ApprovalMode } from "@deepwright/server";
import { matchesKey } from "@earendil-works/pi-tui";
import { safeLine } from "../../terminal/safe-text.ts";
import { MODE_WORDS, MODES, NO_MODES } from "../app-words.ts";
import type { VimKeys } from "../input/vim-keys.ts";
import type { OwnCommands } from "../session/own-command.ts";
import type { Session } from "../session/session.ts";
import type { Theme } from "../view/theme.ts";
import { type ActionName, actionOf, type Keybindings } from "./bindings.ts";

/** The app, as far as keys use it. */
export interface KeyedApp {
  readonly session: Session | undefined;
  readonly theme: Theme;
  readonly keybindings: Keybindings;
  readonly editor: { text: string; readonly isCompleting: boolean; handle(data: string): void };
  readonly keyboard: { open(): void; close(): void };
  readonly driver: { pause(): void; resume(): void };
  readonly options: { readonly environment: NodeJS.ProcessEnv };
  readonly looks: { readonly vim?: boolean | undefined };
  readonly vim: VimKeys;
  readonly own: OwnCommands;
  hint: string | undefined;
  say(...lines: string[]): void;
  ask(): Promise<void>;
  showDetails(): void;
  showSubagents(): void;
  leave(): void;
}

/** True: the key was one of vim's normal mode, or led there. */
export function vimKey(app: KeyedApp, data: string): boolean {
  return app.looks.vim === true && !app.editor.isCompleting && app.vim.handle(data);
}

/** False: the key is for the editor. */
export function appKey(app: KeyedApp, data: string): boolean {
  const { session, editor } = app;
  const isEscape = matchesKey(data, "escape") && !editor.isCompleting;
  if (isEscape && app.own.current) app.own.stop();
  else if (isEscape && session?.isRunning) void session.interrupt();
  else if (matchesKey(data, "escape") && session?.isWaiting && editor.text === "") void app.ask();
  else {
    const action = actionOf(data, app.keybindings);
    return action !== undefined && act(app, action);
  }
  return true;
}

function act(app: KeyedApp, action: ActionName): boolean {
  const isEmpty = app.editor.text === "" && !app.editor.isCompleting;
  if ((action === "leave" || action === "subagents") && !isEmpty) return false;
  if (action === "details") app.showDetails();
  else if (action === "subagents") app.showSubagents();
  else if (action === "external-editor") void externalEditor(app);
  else if (action === "leave") app.leave();
  else if (action === "queue-message") queueOrBreak(app);
  else if (action === "next-mode") nextMode(app);
  else takeBack(app);
  return true;
}

export function nextMode(app: KeyedApp): void {
  const { session } = app;
  if (!session) return;
  if (!session.place.hasModes) {
    app.hint = app.theme.dim(NO_MODES);
    return;
  }
  const next = MODES[(MODES.indexOf(session.mode) + 1) % MODES.length] as ApprovalMode;
  session.setMode(next);
  app.hint = `${app.theme.warning(next)}: ${MODE_WORDS[next]}`;
}

function queueOrBreak({ session, editor }: KeyedApp): void {
  const text = editor.text.trim();
  if (session?.isRunning && text !== "") {
    session.queue.push(text);
    editor.text = "";
  } else editor.handle("\n");
}

function takeBack({ session, editor }: KeyedApp): void {
  const text = session?.queue.pop();
  if (text !== undefined) editor.text = text;
}

export async function externalEditor(app: KeyedApp): Promise<void> {
  const { editedText } = await import("../../terminal/editor.ts");
  app.driver.pause();
  app.keyboard.close();
  const edited = await editedText(app.editor.text, "message.md", app.options.environment);
  app.keyboard.open();
  app.driver.resume();
  if ("problem" in edited) app.say(app.theme.bad(safeLine(edited.problem, 300)));
  else app.editor.text = edited.text.replace(/\n$/, "");
}
