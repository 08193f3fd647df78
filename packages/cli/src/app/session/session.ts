/** A conversation: one thread of a place, what a screen shows of it, and what a person can do with it. */
import { randomUUID } from "node:crypto";
import {
  type BodyOf,
  emptyScreen,
  foldEvent,
  ProtocolError,
  type Screen,
  type StreamedEvent,
  screenOfThread,
} from "@deepwright/protocol";
import type { ApprovalMode } from "@deepwright/server";
import type { Answers } from "../../approval/question.ts";
import type { Place } from "./place.ts";

export type Content = string | readonly Record<string, unknown>[];

export interface SessionEvents {
  /** Something that a screen shows has changed. */
  onChange(): void;
  /** A run ended; `seconds` is how long it took. */
  onEnd(seconds: number): void;
  onFailure(words: string): void;
}

/** As the server reads it; named here because the server is loaded later. */
const APPROVAL_MODE_KEY = "approval_mode";

const STREAM: Pick<BodyOf<"runs.create">, "stream_mode" | "stream_subgraphs"> = {
  stream_mode: ["messages-tuple", "updates", "custom", "tasks", "tools"],
  stream_subgraphs: true,
};

export class Session {
  screen: Screen = emptyScreen;
  threadId: string = randomUUID();
  mode: ApprovalMode;
  /** When the run at work began; undefined: none is at work. */
  startedAt: number | undefined;
  /** Messages for after the run, the oldest first. */
  readonly queue: string[] = [];
  /** Texts that go with the next message, such as the output of the person's own commands. */
  readonly prefaces: string[] = [];
  /** Messages on their way into the run at work, by id. */
  readonly steering = new Map<string, Content>();
  private runId: string | undefined;
  private working: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    readonly place: Place,
    private readonly directory: string,
    mode: ApprovalMode,
    private readonly events: SessionEvents,
  ) {
    this.mode = mode;
    place.local?.modes.set(this.threadId, mode);
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

  /** A new conversation; the old one stays in the database. */
  clear(): void {
    this.threadId = randomUUID();
    this.screen = emptyScreen;
    this.queue.length = 0;
    this.place.local?.modes.set(this.threadId, this.mode);
    this.events.onChange();
  }

  /** Goes on with a thread that is there. `isShown` is false for a screen that begins anew itself. */
  async open(threadId: string, { isShown = true } = {}): Promise<void> {
    await this.place.local?.adopt(threadId);
    const { client } = this.place;
    const state = await client.threads.getState(threadId);
    const interrupts = Object.fromEntries(
      (state.tasks ?? []).map((task, i) => [String(i), (task.interrupts ?? []) as never[]]),
    );
    this.threadId = threadId;
    this.place.local?.modes.set(threadId, this.mode);
    this.screen = screenOfThread({
      thread_id: threadId,
      status: Object.values(interrupts).flat().length > 0 ? "interrupted" : "idle",
      values: state.values as never,
      interrupts: interrupts as never,
    });
    if (isShown) this.events.onChange();
  }

  /** Begins a turn; while a run works the message reaches it before its next model call. */
  async say(content: Content): Promise<void> {
    if (this.isRunning) return this.steer(content);
    const message = {
      type: "human",
      id: randomUUID(),
      content: withPrefaces(content, this.prefaces.splice(0)),
    };
    this.screen = foldEvent(this.screen, { event: "steer", data: { message } });
    this.begin({ input: { messages: [message] } as never });
  }

  async answer(answers: Answers): Promise<void> {
    this.begin({ command: { resume: answers } as never });
  }

  /** Ends the run; the thread stays usable. */
  async interrupt(): Promise<void> {
    if (!this.isRunning || this.isStopping) return;
    this.isStopping = true;
    this.events.onChange();
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

  private async steer(content: Content): Promise<void> {
    const id = randomUUID();
    this.steering.set(id, content);
    this.events.onChange();
    const { client } = this.place;
    await client.threads.postMessage(this.threadId, { kind: "steer", id, content: content as never });
  }

  private begin(body: Partial<BodyOf<"runs.create">>): void {
    this.startedAt = Date.now();
    this.isStopping = false;
    this.events.onChange();
    this.working = this.follow(body).finally(() => {
      const seconds = (Date.now() - (this.startedAt ?? Date.now())) / 1_000;
      this.startedAt = undefined;
      this.runId = undefined;
      this.isStopping = false;
      this.events.onEnd(seconds);
      this.events.onChange();
    });
  }

  private async follow(body: Partial<BodyOf<"runs.create">>): Promise<void> {
    const { client, assistant } = this.place;
    const request = {
      assistant_id: assistant,
      ...STREAM,
      ...body,
      if_not_exists: "create",
      metadata: { cwd: this.directory },
      config: { configurable: { [APPROVAL_MODE_KEY]: this.mode } },
    } as BodyOf<"runs.create">;
    try {
      const events = client.runs.stream(this.threadId, request, {
        onRun: ({ runId }) => {
          this.runId = runId;
          if (this.isStopping) void client.runs.cancel(this.threadId, runId).catch(() => undefined);
        },
      });
      for await (const event of events) this.take(event);
    } catch (error) {
      this.events.onFailure(error instanceof ProtocolError ? error.message : String(error));
    }
  }

  private take(event: StreamedEvent): void {
    const next = foldEvent(this.screen, event as never);
    for (const id of this.steering.keys())
      if (next.main.messages.some((message) => message.id === id)) this.steering.delete(id);
    if (next === this.screen) return;
    this.screen = next;
    this.events.onChange();
  }
}

function withPrefaces(content: Content, prefaces: readonly string[]): Content {
  if (prefaces.length === 0) return content;
  const text = prefaces.join("\n\n");
  return typeof content === "string" ? `${text}\n\n${content}` : [{ type: "text", text }, ...content];
}
