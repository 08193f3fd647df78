/** The app: a screen, a keyboard and a session. Painted before anything heavy is loaded. */
import { emptyScreen } from "@deepwright/protocol/screen";
import type { ApprovalMode } from "@deepwright/server";
import { matchesKey } from "@earendil-works/pi-tui";
import { seconds } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { AppOptions } from "./app-options.ts";
import {
  ASKED_LATER,
  endWords,
  errorWords,
  hangingRows,
  PLAN_WORDS,
  shortPath,
  UNREAD_WORDS,
} from "./app-words.ts";
import { askHost, commandHost, subagentHost } from "./command-host.ts";
import type { AppCommand } from "./commands/command.ts";
import { namedPicture } from "./input/attachments.ts";
import { completion } from "./input/completion.ts";
import { FileIndex } from "./input/file-index.ts";
import { InputHistory } from "./input/history.ts";
import { PromptEditor } from "./input/prompt-editor.ts";
import { lineOfText } from "./input/text-line.ts";
import { VimKeys } from "./input/vim-keys.ts";
import { appKey, externalEditor, nextMode, vimKey } from "./keys/app-keys.ts";
import { actionOf, type Keybindings } from "./keys/bindings.ts";
import { liveRegion, statusOf, waitingRows } from "./live-region.ts";
import type { Panel } from "./panels/panel.ts";
import { planPanel } from "./panels/plan-panel.ts";
import { SubagentPanel } from "./panels/subagent-panel.ts";
import { Viewer } from "./panels/viewer.ts";
import { Keyboard } from "./screen/keyboard.ts";
import { ScreenDriver } from "./screen/screen-driver.ts";
import { OwnCommands, workOf } from "./session/own-command.ts";
import type { Place } from "./session/place.ts";
import type { Session } from "./session/session.ts";
import type { CallContext } from "./view/call-rows.ts";
import { detailPages } from "./view/detail-pages.ts";
import { type Looks, notification } from "./view/looks.ts";
import { workRow } from "./view/panes.ts";
import { type Theme, type ThemeName, themeForBackground, themeOf } from "./view/theme.ts";
import { Transcript } from "./view/transcript.ts";

const LEAVE_MS = 2_000;
const TICK_MS = 100;

export class App {
  session: Session | undefined;
  theme: Theme;
  transcript = new Transcript();
  panel: Panel | undefined;
  hint: string | undefined;
  commands: readonly AppCommand[] = [];
  isFocused = true;
  /** As the settings say, which are read after the first frame. */
  looks: Looks = {};
  readonly vim: VimKeys;
  readonly own = new OwnCommands(() => this.driver.request());
  readonly driver: ScreenDriver;
  readonly editor: PromptEditor;
  readonly keyboard: Keyboard;
  readonly history: InputHistory;
  private asking: { readonly label: string; readonly done: (text: string | undefined) => void } | undefined;
  private leftAt = 0;
  private ticker: NodeJS.Timeout | undefined;
  private leaving: (() => void) | undefined;
  /** Messages typed before the session was there. */
  private early: string[] = [];

  constructor(readonly options: AppOptions) {
    const { stdin, stdout, directory, environment } = options;
    this.theme = themeOf(options.initialTheme, options.hasColour);
    this.driver = new ScreenDriver(stdout as never, (width, rows) => this.rows(width, rows), {
      reflows: options.reflows,
    });
    this.editor = new PromptEditor(this.theme, {
      rows: () => stdout.rows,
      onRender: () => this.driver.request(),
      onSubmit: (text) => void this.submitted(text),
    });
    this.vim = new VimKeys((data) => this.editor.handle(data));
    this.history = new InputHistory(directory, environment);
    this.editor.complete(
      completion(
        () => [...this.commands, ...(this.session?.place.local?.userCommands ?? [])],
        new FileIndex(directory),
      ),
    );
    this.keyboard = new Keyboard(stdin, stdout, {
      onKey: (data) => this.key(data),
      onPaste: (text) => this.pasted(text),
      onFocus: (isFocused) => {
        this.isFocused = isFocused;
      },
      onBackground: (answer) => this.background(answer),
      onEnd: () => this.leave(),
    });
  }

  /** Resolves when the person leaves. */
  async run(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.leaving = resolve;
    });
    const onResize = (): void => this.driver.frame();
    this.options.stdout.on("resize", onResize);
    this.keyboard.open();
    this.say(
      `${this.theme.bold(this.theme.accent("Deepwright"))} in ${safeLine(shortPath(this.options.directory, this.options.environment))}`,
      this.theme.dim(
        "Ask for something. / lists commands, @ names files, Shift-Tab changes what is asked about.",
      ),
    );
    this.driver.frame();
    this.ticker = setInterval(() => this.tick(), TICK_MS);
    for (const entry of await this.history.load()) this.editor.remember(entry);
    await ended;
    clearInterval(this.ticker);
    this.options.stdout.off("resize", onResize);
    this.driver.close();
    this.keyboard.close();
  }

  /** The place is there: what was typed meanwhile is sent. */
  async start(place: Place, threadId: string | undefined, chosen?: ApprovalMode): Promise<void> {
    const { Session } = await import("./session/session.ts");
    this.commands = await this.options.loadCommands();
    const { directory } = this.options;
    const mode = chosen ?? this.options.mode ?? place.mode ?? "ask";
    this.session = new Session(place, directory, mode, {
      onChange: () => this.changed(),
      onEnd: (time) => this.ended(time),
      onFailure: (words) => this.say(this.theme.bad(safeLine(words, 1_000))),
      onUnread: ({ text }) => this.say(this.theme.warning(`${UNREAD_WORDS} ${safeLine(text, 300)}`)),
    });
    this.say(...place.notices.map((line) => this.theme.dim(line)));
    if (threadId !== undefined) await this.session.open(threadId);
    this.changed();
    const waiting = this.early;
    this.early = [];
    for (const text of waiting) await this.submitted(text);
  }

  /** Opens the list of threads. */
  chooseThread(): void {
    void this.submitted("/resume");
  }

  get keybindings(): Keybindings {
    return this.looks.keybindings ?? {};
  }

  get context(): CallContext {
    const { directory } = this.options;
    const isLocal = this.session?.place.local !== undefined;
    return {
      theme: this.theme,
      lineOf: (path, text) => (isLocal ? lineOfText(directory, path, text) : undefined),
    };
  }

  say(...lines: string[]): void {
    this.transcript.note((width) => lines.flatMap((line) => hangingRows(line, width)));
    this.changed();
  }

  note(rows: (width: number) => readonly string[]): void {
    this.transcript.noteNow(rows);
    this.changed();
  }

  /** Everything on the screen follows from the session. */
  changed(): void {
    const screen = this.session?.screen ?? emptyScreen;
    this.transcript.follow(screen);
    const rows = this.transcript.commit(screen, this.driver.width, this.context);
    if (rows.length > 0) this.driver.commit(rows);
    if (this.session?.isWaiting && this.panel === undefined && !this.isAskedLater) void this.ask();
    this.driver.request();
  }

  private isAskedLater = false;

  async ask(): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.isAskedLater = true;
    const { AskPanel } = await import("./panels/ask-panel.ts");
    this.notify("waits for your approval");
    this.panel = new AskPanel(askHost(this, session));
  }

  /** A text from the person; undefined: Esc. */
  askText(label: string, initial = ""): Promise<string | undefined> {
    const before = this.editor.text;
    this.editor.text = initial;
    return new Promise((resolve) => {
      const done = (text: string | undefined): void => {
        this.asking = undefined;
        this.editor.text = before;
        this.driver.request();
        resolve(text);
      };
      this.asking = { label, done };
      this.driver.request();
    });
  }

  async confirm(question: string): Promise<boolean> {
    const answer = await this.askText(`${question} (y/n)`);
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  }

  /** Settings of the project that nobody trusts yet. */
  askTrust(lines: readonly string[]): Promise<boolean> {
    this.say(...lines);
    return this.confirm("Trust these settings as they are now? No leaves them out");
  }

  closePanel(): void {
    this.panel = undefined;
    this.changed();
  }

  leave(): void {
    this.leaving?.();
  }

  private rows(width: number, rows: number): readonly string[] {
    const { session, theme, panel } = this;
    const screen = session?.screen ?? emptyScreen;
    const isPanel = panel !== undefined && this.asking === undefined;
    if (isPanel && panel.isTall) {
      const work = workOf(session, this.own.current);
      const foot = work ? [workRow(work, theme)] : [];
      return [...panel.rows(width, Math.max(Math.ceil(rows * 0.6), Math.min(rows - 2, 12))), ...foot];
    }
    const input = isPanel ? panel.rows(width, rows - 3) : this.editor.rows(width, this.asking?.label);
    return liveRegion(
      {
        screen,
        tail: panel?.isQuestion ? [] : this.transcript.live(screen, width, this.context),
        work: workOf(session, this.own.current),
        waiting: [
          ...(panel || !session?.isWaiting ? [] : [ASKED_LATER]),
          ...waitingRows(session, this.early),
        ],
        input,
        hint: this.hint ?? (session ? undefined : theme.dim("Starting…")),
        status: statusOf(session, this.options, this.looks, this.vim.isNormal),
      },
      width,
      rows,
      theme,
    );
  }

  private tick(): void {
    if (this.session?.isRunning || this.own.current) this.driver.request();
  }

  private ended(time: number): void {
    const { session, theme } = this;
    if (!session) return;
    this.isAskedLater = false;
    const words = endWords(session);
    if (words !== undefined)
      this.say(words.isBad ? theme.bad(words.text) : theme.dim(`${words.text} · ${seconds(time * 1_000)}`));
    if (!session.isWaiting) this.notify("is done");
    // After a run that was stopped or failed the person decides whether they still hold.
    if (!session.isWaiting && session.screen.run.status !== "success" && session.queue.length > 0)
      this.editor.text = [...session.queue.splice(0), this.editor.text].filter(Boolean).join("\n");
    const next = session.isWaiting ? undefined : session.queue.shift();
    if (next !== undefined) void session.say(next);
    else if (session.mode === "plan" && session.screen.run.status === "success") this.offerPlan();
  }

  /** The plan is there: it is carried out here, in a new thread, or not yet. */
  private offerPlan(): void {
    this.say(this.theme.accent(PLAN_WORDS));
    if (this.panel || this.asking || this.editor.text !== "") return;
    this.panel = planPanel(this.theme, (words) => {
      this.closePanel();
      if (words !== undefined) void this.submitted(words);
    });
  }

  private key(data: string): void {
    this.hint = undefined;
    if (matchesKey(data, "ctrl+c")) this.stopOrLeave();
    else if (actionOf(data, this.keybindings) === "next-mode") nextMode(this);
    else if (this.panel && !this.asking) this.panel.handle(data);
    else if (vimKey(this, data)) this.driver.request();
    else if (this.asking) this.askedKey(data);
    else if (!appKey(this, data)) this.editor.handle(data);
    this.driver.request();
  }

  private askedKey(data: string): void {
    if (matchesKey(data, "escape")) this.asking?.done(undefined);
    else if (actionOf(data, this.keybindings) === "external-editor") void externalEditor(this);
    else this.editor.handle(data);
  }

  private stopOrLeave(): void {
    if (this.asking) this.asking.done(undefined);
    else if (this.panel) this.closePanel();
    else if (this.editor.text !== "") this.editor.text = "";
    else if (Date.now() - this.leftAt < LEAVE_MS) this.leave();
    else {
      this.leftAt = Date.now();
      if (this.session?.isRunning) void this.session.interrupt();
      this.own.stop();
      this.hint = this.theme.warning("Ctrl-C again leaves");
    }
  }

  showDetails(): void {
    const pages = detailPages(this.session?.screen ?? emptyScreen, this.theme);
    if (pages.length === 0) this.hint = this.theme.dim("No tool calls yet");
    else this.panel = new Viewer(pages, this.theme, () => this.closePanel());
  }

  showSubagents(): void {
    const { session } = this;
    if (!session) return;
    this.panel = new SubagentPanel(subagentHost(this, session));
  }

  private pasted(text: string): void {
    if (this.panel && !this.asking) return;
    this.editor.paste(namedPicture(text) ?? text);
    this.driver.request();
  }

  look(looks: Looks): void {
    this.looks = looks;
    if (looks.theme !== "auto") this.paint(looks.theme);
  }

  private background(answer: string): void {
    if ((this.looks.theme ?? "auto") === "auto") this.paint(themeForBackground(answer));
  }

  private paint(name: ThemeName | undefined): void {
    if (name === undefined || name === this.theme.name) return;
    this.theme = themeOf(name, this.options.hasColour);
    this.editor.setTheme(this.theme);
    this.driver.request();
  }

  private async submitted(text: string): Promise<void> {
    if (this.asking) return this.asking.done(text);
    const trimmed = text.trim();
    if (trimmed === "") return;
    this.editor.text = "";
    this.vim.reset();
    this.editor.remember(trimmed);
    void this.history.add(trimmed);
    if (!this.session) {
      this.early.push(text);
      this.driver.request();
      return;
    }
    if (trimmed.startsWith("/")) this.say(this.theme.dim(`› ${safeLine(trimmed, 200)}`));
    const { submit } = await import("./commands/submit.ts");
    await submit(trimmed, commandHost(this, this.session)).catch((error: Error) =>
      this.say(this.theme.bad(errorWords(error))),
    );
  }

  open(panel: Panel): void {
    this.panel = panel;
    this.driver.request();
  }

  /** Shows the thread of the session from its beginning. */
  replay(): void {
    this.transcript = new Transcript();
    this.isAskedLater = false;
    this.changed();
  }

  async changeModel(model: string): Promise<void> {
    const { session } = this;
    const place = await this.options.openPlace(model);
    const threadId = session?.isEmpty ? undefined : session?.threadId;
    await session?.place.close();
    this.session = undefined;
    await this.start(place, threadId, session?.mode);
  }

  /** The terminal tells the person who looks elsewhere. */
  private notify(words: string): void {
    if (!this.isFocused)
      this.options.stdout.write(notification(this.looks.notifications, `deepwright ${words}`));
  }
}
