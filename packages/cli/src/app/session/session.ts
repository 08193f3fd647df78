/** A conversation: one thread of a place, what a screen shows of it, and what a person can do with it. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type BodyOf,
  emptyScreen,
  foldEvent,
  ProtocolError,
  type Screen,
  type StreamedEvent,
  screenOfThread,
  type Usage,
} from "@deepwright/protocol";
import type { AllowRule, ApprovalMode } from "@deepwright/server";
import type { Answers } from "../../approval/question.ts";
import { type Content, withAdditions } from "./additions.ts";
import type { Place } from "./place.ts";
import { usageSince } from "./spending.ts";
import { type ToldMessage, ToldSubagents } from "./told-subagents.ts";

export type { Content };

export interface SessionEvents {
  /** Something that a screen shows has changed. */
  onChange(): void;
  /** A run ended; `seconds` is how long it took. */
  onEnd(seconds: number): void;
  onFailure(words: string): void;
  /** A subagent ended before it read this message. */
  onUnread?(message: ToldMessage): void;
}

/** As the server reads them; named here because the server is loaded later. */
const [APPROVAL_MODE_KEY, APPROVAL_RULES_KEY, RUN_MODEL_KEY] = [
  "approval_mode",
  "approval_rules",
  "run_model",
] as const;

/** A run that waits for another one stores its input later than this. */
const STORED_MS = 3_000;

const STREAM: Pick<BodyOf<"runs.create">, "stream_mode" | "stream_subgraphs"> = {
  stream_mode: ["messages-tuple", "updates", "custom", "tasks", "tools"],
  stream_subgraphs: true,
};

/** Statuses of runs that have not ended. */
const LIVE: ReadonlySet<string> = new Set(["pending", "running"]);

const MOST_LOOKS = 20;
const LOOK_MS = 100;

export class Session {
  screen: Screen = emptyScreen;
  mode: ApprovalMode;
  /** When the run at work began; undefined: none is at work. */
  startedAt: number | undefined;
  /** Messages for after the run, the oldest first. */
  readonly queue: string[] = [];
  /** Texts that go with the next message of this thread, such as the output of the person's own commands. */
  readonly additions: string[] = [];
  /** Messages on their way into the run at work, by id. */
  readonly steering = new Map<string, Content>();
  /** Messages on their way to single subagents. */
  readonly told = new ToldSubagents();
  /** The model that runs are begun with; undefined: that of the place. */
  model: string | undefined;
  /** Permissions that a person gave in threads of a server elsewhere. */
  private readonly rules = new Map<string, AllowRule[]>();
  private runId: string | undefined;
  private working: Promise<void> | undefined;
  private isStopping = false;
  /** Resolves when the run at work has stored its input, or is over. */
  private stored: Promise<void> = Promise.resolve();
  private noteStored = (): void => {};
  private usageBefore: Usage = emptyScreen.usage;

  constructor(
    readonly place: Place,
    private readonly directory: string,
    mode: ApprovalMode,
    private readonly events: SessionEvents,
    public threadId: string = randomUUID(),
  ) {
    this.mode = mode;
    place.local?.modes.set(threadId, mode);
  }

  get isRunning(): boolean {
    return this.startedAt !== undefined;
  }

  get isWaiting(): boolean {
    return this.screen.interrupts.length > 0 && !this.isRunning;
  }

  get isEmpty(): boolean {
    return this.screen.main.messages.length === 0;
  }

  setMode(mode: ApprovalMode): void {
    this.mode = mode;
    this.place.local?.modes.set(this.threadId, mode);
    this.events.onChange();
  }

  /** Calls that need no question any more in the thread of the rule. */
  allow(rule: AllowRule): void {
    const { local } = this.place;
    const { threadId: _, ...plain } = rule;
    if (local) local.modes.allow(rule);
    else this.rules.set(this.threadId, [...this.allowed, plain]);
  }

  /** Permissions: calls that run without a question. */
  get allowed(): readonly AllowRule[] {
    return this.place.local?.modes.rules ?? this.rules.get(this.threadId) ?? [];
  }

  async forget(rule: AllowRule): Promise<void> {
    const { local } = this.place;
    if (local) return local.forget(rule);
    this.rules.set(
      this.threadId,
      this.allowed.filter((one) => one !== rule),
    );
  }

  /** A new conversation; the old one stays in the database. */
  clear(): void {
    this.threadId = randomUUID();
    this.screen = emptyScreen;
    this.usageBefore = emptyScreen.usage;
    this.queue.length = 0;
    this.additions.length = 0;
    this.steering.clear();
    this.place.local?.modes.set(this.threadId, this.mode);
    this.events.onChange();
  }

  /** Goes on with a thread that is there. `isShown` is false for a screen that begins anew itself. */
  async open(threadId: string, { isShown = true } = {}): Promise<void> {
    await this.place.local?.adopt(threadId);
    const { client } = this.place;
    const state = await client.threads.getState(threadId);
    const [newest] = await client.runs.list(threadId, { limit: 1 });
    const isLive = newest !== undefined && LIVE.has(newest.status);
    const interrupts = Object.fromEntries(
      (state.tasks ?? []).map((task, i) => [String(i), (task.interrupts ?? []) as never[]]),
    );
    if (threadId !== this.threadId) this.additions.length = 0;
    this.threadId = threadId;
    this.place.local?.modes.set(threadId, this.mode);
    this.screen = screenOfThread({
      thread_id: threadId,
      status: isLive ? "busy" : Object.values(interrupts).flat().length > 0 ? "interrupted" : "idle",
      values: state.values as never,
      interrupts: interrupts as never,
    });
    this.usageBefore = this.screen.usage;
    if (isShown) this.events.onChange();
    if (isLive) this.track(() => this.followRun(newest.run_id));
  }

  /** Begins a turn; while a run works the message reaches it before its next model call. */
  async say(content: Content): Promise<void> {
    if (this.isRunning) return this.steer(content);
    this.showSteered();
    const message = {
      type: "human",
      id: randomUUID(),
      content: withAdditions(content, this.additions.splice(0)),
    };
    this.screen = foldEvent(this.screen, { event: "steer", data: { message } });
    this.begin({ input: { messages: [message] } as never });
  }

  /** Messages that a stopped run has not read are read by the next one before its own. */
  private showSteered(): void {
    for (const [id, content] of this.steering)
      this.screen = foldEvent(this.screen, {
        event: "steer",
        data: { message: { type: "human", id, content } },
      });
    this.steering.clear();
  }

  async answer(answers: Answers): Promise<void> {
    this.begin({ command: { resume: answers } as never });
  }

  /** Ends the run; the thread stays usable. */
  async interrupt(): Promise<void> {
    if (!this.isRunning || this.isStopping) return;
    this.isStopping = true;
    this.events.onChange();
    // The message that began the run stays in the thread.
    await Promise.race([this.stored, sleep(STORED_MS, undefined, { ref: false })]);
    const { runId } = this;
    if (runId !== undefined)
      await this.place.client.runs.cancel(this.threadId, runId, { wait: true }).catch(() => undefined);
    await this.working;
  }

  get isInterrupting(): boolean {
    return this.isStopping;
  }

  /** Resolves when no run is at work. */
  async idle(): Promise<void> {
    await this.working;
  }

  /** Stops one subagent; its parent goes on. */
  async stopSubagent(namespace: string): Promise<void> {
    await this.place.client.threads.stopSubagent(this.threadId, { subagent: namespace });
  }

  /** Tells one subagent something before its next model call. */
  async steerSubagent(namespace: string, text: string): Promise<void> {
    const id = randomUUID();
    this.told.add(id, { namespace, text });
    this.events.onChange();
    await this.place.client.threads
      .steerSubagent(this.threadId, { subagent: namespace, id, content: text })
      .catch((error: unknown) => {
        this.told.remove(id);
        throw error;
      });
  }

  private followTold(): void {
    for (const message of this.told.follow(this.screen, this.isRunning)) this.events.onUnread?.(message);
  }

  private async steer(content: Content): Promise<void> {
    const id = randomUUID();
    this.steering.set(id, content);
    this.events.onChange();
    const { client } = this.place;
    await client.threads.postMessage(this.threadId, { kind: "steer", id, content: content as never });
  }

  /** Tokens of the run at work, or of the last one. */
  get usageOfRun(): Usage {
    return usageSince(this.screen.usage, this.usageBefore);
  }

  private begin(body: Partial<BodyOf<"runs.create">>): void {
    this.track(() => this.follow(body));
  }

  /** A run is at work until `work` is done. */
  private track(work: () => Promise<void>): void {
    this.startedAt = Date.now();
    this.isStopping = false;
    this.usageBefore = this.screen.usage;
    this.stored = new Promise((resolve) => {
      this.noteStored = resolve;
    });
    this.events.onChange();
    this.working = work().finally(() => {
      this.noteStored();
      const seconds = (Date.now() - (this.startedAt ?? Date.now())) / 1_000;
      this.startedAt = undefined;
      this.runId = undefined;
      this.isStopping = false;
      this.followTold();
      this.events.onEnd(seconds);
      this.events.onChange();
    });
  }

  /** Choices that an agent would not keep to are refused, so that they are not sent. */
  private get choices(): Record<string, unknown> {
    const rules = this.place.local ? undefined : this.rules.get(this.threadId);
    return {
      ...(this.place.hasModes && { [APPROVAL_MODE_KEY]: this.mode }),
      ...(rules && { [APPROVAL_RULES_KEY]: rules }),
      ...(this.model !== undefined && { [RUN_MODEL_KEY]: this.model }),
    };
  }

  private async follow(body: Partial<BodyOf<"runs.create">>): Promise<void> {
    const { client, assistant } = this.place;
    const request = {
      assistant_id: assistant,
      ...STREAM,
      ...body,
      if_not_exists: "create",
      metadata: { cwd: this.directory },
      config: { configurable: this.choices },
    } as BodyOf<"runs.create">;
    const events = client.runs.stream(this.threadId, request, {
      onRun: ({ runId }) => {
        this.runId = runId;
      },
    });
    await this.takeAll(events);
  }

  /** A run that somebody else began, such as a page, or an agent for a background task. */
  private async followRun(runId: string): Promise<void> {
    this.runId = runId;
    await this.takeAll(this.place.client.runs.joinStream(this.threadId, runId));
  }

  private async takeAll(events: AsyncIterable<StreamedEvent>): Promise<void> {
    try {
      for await (const event of events) this.take(event);
      await this.followMail();
    } catch (error) {
      this.events.onFailure(error instanceof ProtocolError ? error.message : String(error));
    }
  }

  /** Follows runs that the server begins for messages which the run before ended too early to read. */
  private async followMail(): Promise<void> {
    const { runs } = this.place.client;
    for (let looks = 0; looks < MOST_LOOKS && this.hasUnreadMail; looks += 1) {
      const [newest] = await runs.list(this.threadId, { limit: 1 });
      if (newest === undefined || newest.run_id === this.runId) {
        await sleep(LOOK_MS);
        continue;
      }
      looks = 0;
      this.runId = newest.run_id;
      for await (const event of runs.joinStream(this.threadId, newest.run_id)) this.take(event);
    }
  }

  private get hasUnreadMail(): boolean {
    return this.steering.size > 0 && !this.isStopping && this.screen.run.status === "success";
  }

  private take(event: StreamedEvent): void {
    if (event.event !== "metadata") this.noteStored();
    const next = foldEvent(this.screen, event as never);
    for (const id of this.steering.keys())
      if (next.main.messages.some((message) => message.id === id)) this.steering.delete(id);
    if (next === this.screen) return;
    this.screen = next;
    this.followTold();
    this.events.onChange();
  }
}
