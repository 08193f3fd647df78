/** One trial: the messages of a case, one after the other, in one harness with one model; then its verifiers. */
import { setMaxListeners } from "node:events";
import { AIMessage, type BaseMessage, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import type { World } from "../format/case-tool.ts";
import type { EvalCase } from "../format/eval-case.ts";
import { caseTools } from "../harness/case-tools.ts";
import type { Harness, HarnessAgent } from "../harness/harness.ts";
import type { TrialOutput } from "../verifiers/verifier.ts";
import { answersTo, type Question } from "./approval-answers.ts";
import { Life, newStorage, saverOf } from "./crash.ts";
import type { ModelSource, TrialModel } from "./model-source.ts";
import { LimitReached, type Priced, UsageMeter } from "./usage-meter.ts";

const DEFAULT_SECONDS = 300;
const MOST_QUESTIONS = 20;
/** Supersteps of LangGraph. The limit of a case is its model calls. */
const RECURSION_LIMIT = 10_000;

export interface TrialRequest {
  readonly case: EvalCase;
  readonly harness: Harness;
  readonly models: ModelSource;
  /** For limits in dollars. */
  readonly price?: Priced;
  readonly signal?: AbortSignal;
}

export interface TrialEnd {
  readonly output: TrialOutput;
  readonly meter: UsageMeter;
  readonly invalidRequests: number;
  /** The error that ended the trial early; undefined when every message was answered. */
  readonly error: unknown;
}

interface State {
  readonly messages?: readonly unknown[];
  readonly files?: Readonly<Record<string, unknown>>;
  readonly structuredResponse?: unknown;
  readonly [key: string]: unknown;
}

/** Plays a trial to its end. Failures of the agent, of the model and of the case's tools are part of the result. */
export async function playTrial(request: TrialRequest): Promise<TrialEnd> {
  const trial = new Trial(request);
  const error = await trial.play();
  return { output: trial.output(error), meter: trial.meter, invalidRequests: trial.invalidRequests(), error };
}

class Trial {
  readonly meter: UsageMeter;
  private readonly request: TrialRequest;
  private readonly stop = new AbortController();
  private readonly storage = newStorage();
  private readonly world: World = {};
  private readonly answers: string[] = [];
  private readonly crashesDone = new Set<unknown>();
  private life = new Life();
  private model: TrialModel | undefined;
  private agent: HarnessAgent | undefined;
  private state: State = {};
  private thread = 0;
  private questions = 0;

  constructor(request: TrialRequest) {
    this.request = request;
    setMaxListeners(0, this.stop.signal);
    this.meter = new UsageMeter(request.case.limits, (reason) => this.stop.abort(reason), request.price);
  }

  invalidRequests(): number {
    return this.model?.invalidRequests() ?? 0;
  }

  /** Returns the error that ended the trial, if one did. */
  async play(): Promise<unknown> {
    const { case: given, signal, harness } = this.request;
    const seconds = given.limits.seconds ?? DEFAULT_SECONDS;
    const timer = setTimeout(
      () => this.stop.abort(new LimitReached(`it took more than ${seconds} seconds`)),
      seconds * 1000,
    );
    const onAbort = () => this.stop.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    try {
      signal?.throwIfAborted();
      this.model = await this.request.models.open(given, () => this.life);
      for (const text of [given.task].flat()) await this.say(text);
      return undefined;
    } catch (error) {
      await this.look().catch(() => {});
      return this.stop.signal.aborted ? this.stop.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (this.agent !== undefined) await harness.close?.(this.agent);
    }
  }

  output(error: unknown): TrialOutput {
    const messages = (this.state.messages ?? []).filter(isBaseMessage) as BaseMessage[];
    this.meter.noteResults(messages);
    return {
      files: filesOf(this.state),
      answer: this.answers.at(-1) ?? "",
      answers: this.answers,
      calls: this.meter.calls(),
      structured: this.state.structuredResponse,
      state: this.state,
      world: this.world,
      modelCalls: this.meter.replies.length,
      tokens: this.meter.tokens,
      questions: this.questions,
      error: error === undefined ? undefined : messageOf(error),
    };
  }

  private async say(text: string): Promise<void> {
    const { case: given } = this.request;
    const isFirst = this.answers.length === 0;
    if (given.newThreads && !isFirst) await this.beginThread();
    const files = isFirst ? given.files : given.newThreads ? filesOf(this.state) : undefined;
    const input = {
      messages: [new HumanMessage(text)],
      ...(files === undefined ? {} : { files: fileData(files) }),
    };
    await this.run(input);
    await this.answerQuestions();
    this.answers.push(lastReply(this.state));
  }

  /** A new thread has a new agent, which sees the files as they are now. */
  private async beginThread(): Promise<void> {
    this.thread += 1;
    if (this.agent !== undefined) await this.request.harness.close?.(this.agent);
    this.agent = undefined;
  }

  private async answerQuestions(): Promise<void> {
    for (let round = 0; round < MOST_QUESTIONS; round += 1) {
      const [question] = (this.state.__interrupt__ ?? []) as readonly { value?: Question }[];
      if (question?.value?.actionRequests === undefined) return;
      this.questions += 1;
      await this.run(new Command({ resume: answersTo(question.value, this.request.case.approvals) }));
    }
    throw new LimitReached(`the agent asked more than ${MOST_QUESTIONS} times`);
  }

  /** Runs the agent; after a crash another process continues where storage says. */
  private async run(input: unknown): Promise<void> {
    let next = input;
    for (;;) {
      this.agent ??= await this.newAgent();
      const { life } = this;
      const running = this.invoke(this.agent, next);
      const ended = await Promise.race([running.then(() => true), life.crashed.then(() => false)]);
      if (ended) {
        this.state = (await running) as State;
        return;
      }
      running.catch(() => {});
      this.life = new Life();
      this.agent = await this.newAgent();
      next = null;
    }
  }

  private invoke(agent: HarnessAgent, input: unknown): Promise<unknown> {
    return agent.invoke(input, {
      ...this.config(),
      recursionLimit: RECURSION_LIMIT,
      signal: this.stop.signal,
      callbacks: [this.meter],
      durability: "sync",
    } as never);
  }

  private config() {
    return { configurable: { thread_id: `trial-${this.thread}` } };
  }

  private async newAgent(): Promise<HarnessAgent> {
    const { case: given, harness } = this.request;
    const { life } = this;
    return harness.create({
      case: given,
      files: this.thread === 0 ? (given.files ?? {}) : filesOf(this.state),
      model: this.model!.model,
      tools: caseTools(given.tools, this.world, (name, run) => this.crashIn(name, run, life)),
      checkpointer: saverOf(this.storage, life),
    });
  }

  private crashIn(name: string, run: number, life: Life): Promise<void> | undefined {
    const found = this.request.models.scripted
      ? (this.request.case.faults ?? []).find(
          (each) => each.kind === "crash-in-tool" && each.tool === name && each.run === run,
        )
      : undefined;
    if (found === undefined || this.crashesDone.has(found)) return undefined;
    this.crashesDone.add(found);
    return life.die();
  }

  /** The state of a run that failed. */
  private async look(): Promise<void> {
    const snapshot = (await this.agent?.getState(this.config())) as { values?: State } | undefined;
    this.state = snapshot?.values ?? this.state;
  }
}

function fileData(files: Readonly<Record<string, string>>): Record<string, object> {
  const time = "2026-01-01T00:00:00.000Z";
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path,
      { content, mimeType: "text/plain", created_at: time, modified_at: time },
    ]),
  );
}

/** Files of a state as text; older forms keep lists of lines. */
function filesOf({ files = {} }: State): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).flatMap(([path, file]) => {
      const content = (file as { content?: unknown } | null | undefined)?.content;
      if (Array.isArray(content)) return [[path, content.join("\n")]];
      return typeof content === "string" ? [[path, content]] : [];
    }),
  );
}

function lastReply({ messages = [] }: State): string {
  const last = messages.findLast((message) => AIMessage.isInstance(message));
  return last === undefined ? "" : (last as AIMessage).text;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
