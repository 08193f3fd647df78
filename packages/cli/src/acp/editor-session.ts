/** One session of an editor: a place, the thread in it, its options, and the turn at work. */
import {
  type ContentBlock,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { ApprovalMode } from "@deepwright/server";
import { MODES } from "../app/app-words.ts";
import type { Place } from "../app/session/place.ts";
import { Session } from "../app/session/session.ts";
import { contextTokens } from "../app/view/panes.ts";
import { questionsOf } from "../approval/question.ts";
import { isEffort, takesEffort } from "../model/effort.ts";
import { offeredNames } from "../models/offered-names.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";
import { configOptions, modeState, type SessionChoices } from "./config-options.ts";
import type { Editor } from "./editor.ts";
import { questionWords } from "./forms.ts";
import { askedAnswers } from "./permissions.ts";
import { promptContent, promptWords } from "./prompt-content.ts";
import { ScreenUpdates } from "./screen-updates.ts";
import { availableCommands, expandedPrompt, ranCommand } from "./slash-commands.ts";
import { stopReason } from "./stop-reason.ts";

/** Pieces of an answer within this time are sent as one. */
const GATHER_MS = 40;
const TITLE_WIDTH = 80;

export type OpenPlace = (choices: Partial<SessionChoices>, session: EditorSession) => Promise<Place>;

export interface EditorSessionOptions {
  readonly editor: Editor;
  readonly id: string;
  /** A real path. */
  readonly directory: string;
  readonly mode: ApprovalMode | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly openPlace: OpenPlace;
}

export class EditorSession {
  readonly id: string;
  readonly directory: string;
  readonly editor: Editor;
  readonly updates: ScreenUpdates;
  /** Whether the editor knows the session. Nothing is sent before. */
  isAnnounced = false;
  private chosen: SessionChoices;
  /** Names of models to choose from. */
  private models: readonly string[] = [];
  private session!: Session;
  private turn: AbortController | undefined;
  private failure: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The options that the place was opened with. */
  private opened = "";
  private sentUsage = "";
  /** Updates for the time when the editor knows the session. */
  private early: SessionUpdate[] = [];

  constructor(private readonly options: EditorSessionOptions) {
    const { id, directory, editor, mode } = options;
    this.id = id;
    this.directory = directory;
    this.editor = editor;
    this.updates = new ScreenUpdates(directory, editor.showsPlans);
    this.chosen = { mode: mode ?? "ask", model: "", effort: undefined, commands: "sandbox" };
  }

  get place(): Place {
    return this.session.place;
  }

  get current(): Session {
    return this.session;
  }

  /** Opens the place; `isThere` says whether the thread has been used before. */
  async start(isThere: boolean): Promise<void> {
    const { openPlace, environment } = this.options;
    const place = await openPlace({}, this);
    this.models = place.models ?? (await offeredNames(place.model, environment));
    const mode = this.options.mode ?? place.mode ?? "ask";
    this.chosen = { ...this.chosen, mode, model: place.model };
    await this.enter(place, isThere);
  }

  /** The thread so far, as updates. */
  replay(): readonly SessionUpdate[] {
    return this.updates.follow(this.session.screen, true);
  }

  /** What an editor learns after it got the id of the session. */
  announce(): void {
    this.isAnnounced = true;
    this.send({
      sessionUpdate: "available_commands_update",
      availableCommands: availableCommands(this.place),
    });
    if (this.editor.showsNotices)
      for (const line of this.place.notices)
        this.send({ sessionUpdate: "notice", severity: "info", title: safeLine(line, 500) });
    for (const update of this.early.splice(0)) this.send(update);
    this.sendUsage();
    if (this.session.isWaiting && this.turn === undefined) this.say(WAITING);
  }

  get state() {
    const modes = this.place.hasModes ? modeState(this.chosen.mode) : undefined;
    return { ...(modes && { modes }), configOptions: this.configOptions };
  }

  get configOptions(): SessionConfigOption[] {
    const { local, sandbox } = this.place;
    const current = this.chosen.model;
    return configOptions(this.chosen, {
      hasModes: this.place.hasModes,
      models: [...new Set([current, this.place.model, ...this.models])],
      hasEffort: local !== undefined && current === this.place.model && takesEffort(local.choice),
      hasTerminals: local !== undefined && this.editor.hasTerminals,
      sandbox,
    });
  }

  setMode(id: string): void {
    const mode = this.place.hasModes ? MODES.find((one) => one === id) : undefined;
    if (mode === undefined) throw RequestError.invalidParams({ modeId: id }, "there is no such mode");
    if (this.session.mode !== mode) this.session.setMode(mode);
  }

  /** Options beside the mode hold from the next prompt on. */
  setOption(id: string, value: unknown): void {
    if (id === "mode") {
      this.setMode(String(value));
      return;
    }
    const option = this.configOptions.find((one) => one.id === id);
    const values =
      option?.type === "select" ? option.options.map((one) => ("value" in one ? one.value : "")) : [];
    if (typeof value !== "string" || !values.includes(value))
      throw RequestError.invalidParams({ configId: id, value }, "there is no such option or value");
    if (id === "model") this.chosen = { ...this.chosen, model: value };
    if (id === "effort") this.chosen = { ...this.chosen, effort: isEffort(value) ? value : undefined };
    if (id === "commands")
      this.chosen = { ...this.chosen, commands: value === "editor" ? "editor" : "sandbox" };
  }

  /** A model that is named freely, as with /model. */
  async changeModel(model: string): Promise<void> {
    const before = this.chosen;
    this.chosen = { ...before, model };
    try {
      await this.reopen();
    } catch (error) {
      this.chosen = before;
      throw error;
    }
    this.send({ sessionUpdate: "config_option_update", configOptions: this.configOptions });
  }

  async prompt(prompt: readonly ContentBlock[]): Promise<PromptResponse> {
    if (this.turn)
      throw RequestError.invalidRequest(
        undefined,
        "a turn is at work in this session: cancel it, or wait for its end",
      );
    const turn = new AbortController();
    this.turn = turn;
    this.failure = undefined;
    try {
      await this.reopen();
      return { stopReason: await this.worked(prompt, turn.signal) };
    } finally {
      this.turn = undefined;
      this.flush();
    }
  }

  /** Ends the turn at work; the thread stays usable. */
  async cancel(): Promise<void> {
    this.turn?.abort();
    await this.session.interrupt();
  }

  async close(): Promise<void> {
    await this.cancel();
    clearTimeout(this.timer);
    await this.place.close();
  }

  say(text: string): void {
    const content = { type: "text" as const, text: safeText(text) };
    this.send({ sessionUpdate: "agent_message_chunk", content });
  }

  send(update: SessionUpdate): void {
    if (this.isAnnounced) this.editor.update(this.id, update);
    else this.early.push(update);
  }

  /** A command runs in a terminal of the editor. */
  readonly noteTerminal = (command: string, terminalId: string): void => {
    for (const update of this.updates.noteTerminal(command, terminalId)) this.send(update);
  };

  get isWaiting(): boolean {
    return this.session.isWaiting;
  }

  private async worked(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const words = promptWords(prompt);
    if (words === "/continue" && this.isWaiting) return this.decided(signal);
    if (await ranCommand(words, this)) return this.session.isRunning ? this.decided(signal) : "end_turn";
    const content = expandedPrompt(words, this.place) ?? promptContent(prompt, this.directory);
    if (this.session.isEmpty)
      this.send({ sessionUpdate: "session_info_update", title: safeLine(words, TITLE_WIDTH) });
    const open = this.openQuestion();
    if (open !== undefined && words !== "") await this.session.answer({ [open]: words });
    else await this.session.say(content);
    // A message that was cancelled at once stays in the thread, too.
    if (signal.aborted) await this.session.interrupt();
    return this.decided(signal);
  }

  /** The question of an agent that waits for words; undefined: there is none, or calls wait as well. */
  private openQuestion(): string | undefined {
    const [only, ...more] = questionsOf(this.session.isWaiting ? this.session.screen.interrupts : []);
    return only && more.length === 0 && only.calls.length === 0 ? only.id : undefined;
  }

  /** Asks until nothing waits. */
  private async decided(signal: AbortSignal): Promise<StopReason> {
    for (;;) {
      await this.session.idle();
      this.flush();
      if (signal.aborted) return "cancelled";
      if (this.failure !== undefined) throw RequestError.internalError(undefined, this.failure);
      if (!this.session.isWaiting) return stopReason(this.session.screen.run);
      const { editor, session, updates, directory } = this;
      const answers = await askedAnswers({ editor, session, updates, directory, signal });
      if (signal.aborted) return "cancelled";
      if (answers === undefined) return this.leftOpen();
      await session.answer(answers);
    }
  }

  private leftOpen(): StopReason {
    const id = this.openQuestion();
    if (id === undefined) return "cancelled";
    const [question] = questionsOf(this.session.screen.interrupts);
    this.say(`${questionWords(question?.value)}\n\nYour next message is the answer.`);
    return "end_turn";
  }

  /** Opens the place again where an option changed. */
  private async reopen(): Promise<void> {
    if (this.opened === this.wish()) return;
    const before = this.place;
    if (!before.local) {
      const { model } = this.chosen;
      this.session.model = model === before.model ? undefined : model;
      this.opened = this.wish();
      return;
    }
    const { mode: _, ...choices } = this.chosen;
    const place = await this.options.openPlace(choices, this);
    const wasUsed = !this.session.isEmpty;
    await before.close();
    await this.enter(place, wasUsed);
  }

  private wish(): string {
    const { model, effort, commands } = this.chosen;
    return JSON.stringify([model, effort, commands]);
  }

  private async enter(place: Place, isThere: boolean): Promise<void> {
    const events = {
      onChange: () => this.changed(),
      onEnd: () => this.flush(),
      onFailure: (words: string) => {
        this.failure = safeLine(words, 1_000);
      },
    };
    this.session = new Session(place, this.directory, this.chosen.mode, events, this.id);
    if (isThere) await this.session.open(this.id, { isShown: false });
    this.chosen = { ...this.chosen, model: place.model };
    this.opened = this.wish();
  }

  private changed(): void {
    if (this.session.mode !== this.chosen.mode) this.noteMode();
    this.timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  private noteMode(): void {
    const { mode } = this.session;
    this.chosen = { ...this.chosen, mode };
    this.send({ sessionUpdate: "current_mode_update", currentModeId: mode });
    this.send({ sessionUpdate: "config_option_update", configOptions: this.configOptions });
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.isAnnounced) return;
    for (const update of this.updates.follow(this.session.screen)) this.send(update);
    this.sendUsage();
  }

  private sendUsage(): void {
    const { screen, place } = this.session;
    const used = contextTokens(screen);
    if (place.window === undefined || used === 0) return;
    const amount = place.costOf(screen.usage);
    const update = {
      ...{ sessionUpdate: "usage_update" as const, used, size: place.window },
      ...(amount !== undefined && { cost: { amount, currency: "USD" } }),
    };
    const json = JSON.stringify(update);
    if (json === this.sentUsage) return;
    this.sentUsage = json;
    this.send(update);
  }
}

const WAITING =
  "Calls of this thread wait for your approval. Send `/continue` to decide about them; any other message cancels them.";
