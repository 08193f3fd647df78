/** Executes one claimed run, from its first event to its last. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Assistant, RunStatus, ThreadStatus } from "@deepwright/protocol";
import {
  type BaseCheckpointSaver,
  Command,
  isCommand,
  isGraphDrained,
  type RunControl,
} from "@langchain/langgraph";
import { ASYNC_TASK_HOST_CONFIG_KEY, asyncTaskReport } from "deepwright";
import { SUBAGENT_CONTROL_CONFIG_KEY } from "deepwright/internal";
import type { AnyGraph } from "../../agents/graph-types.ts";
import type { AgentRegistry } from "../../agents/registry.ts";
import type { ApprovalLinks } from "../../approval-links/approval-links.ts";
import type { ServerMetrics } from "../../metrics/server-metrics.ts";
import type { NewEvent, RunClaim, RunRecord, ServerRecords, TaskStatus } from "../../records/records.ts";
import { namedAnswer } from "../input/check-resume.ts";
import { checkCheckpointIsThere } from "../input/find-checkpoint.ts";
import {
  chosenCheckpoint,
  clientConfigurable,
  requestedModes,
  runConfig,
  runInput,
} from "../input/run-input.ts";
import { isMailRun, mailMessage, type Steering, wireMessage, withMail } from "../mail/steering.ts";
import type { TaskHosts } from "../tasks/task-host.ts";
import { hasTaskNews, isKnownToThread, keepsTasks } from "../tasks/task-news.ts";
import { publicKeys, readThread, type ShownEnd, shownEnd, type ThreadView } from "../thread-view.ts";
import { webhookOf } from "../webhooks/run-webhook.ts";
import { type EngineEvent, type StreamShape, shownEvent, streamShape } from "../wire/stream-events.ts";
import type { ErrorWords } from "../wire/wire-error.ts";
import type { WireJson } from "../wire/wire-json.ts";
import { claimThread, type HeldThread } from "./claim-thread.ts";
import { ClaimLost, createEventWriter, type EventWriter } from "./event-writer.ts";
import { replacementOf } from "./replaced.ts";
import { beginningOf, rollBack } from "./rollback.ts";
import type { RunEnd } from "./run-end.ts";
import { isOutage, isStaleAnswer } from "./run-error.ts";
import { type RunSignals, RunStopped } from "./run-stopped.ts";
import { headOf, isStalled } from "./stall.ts";

export interface ExecutionParts {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  readonly saver: BaseCheckpointSaver;
  readonly wireJson: WireJson;
  readonly errorWords: ErrorWords;
  /** Called with the reason why a run failed, and with failures that belong to no run, such as of the database. */
  readonly onError: (error: unknown) => void;
  /** For tasks that agents have done in the background. */
  readonly taskHosts: TaskHosts;
  /** How long a claim lives without being renewed: as long as a dead worker's run waits for another. */
  readonly claimTtlMs: number;
  readonly pollMs: number;
  /** A run that takes longer is ended with the status `timeout`. Infinity: no limit. */
  readonly runTimeoutMs: number;
  /** A run that was begun so often at one step, and never got further, is given up. */
  readonly maxAttempts: number;
  readonly metrics?: ServerMetrics | undefined;
  readonly approvalLinks?: ApprovalLinks | undefined;
}

interface Ending {
  readonly status: RunStatus;
  /** How a task has gone that ends with the run; absent: as the run. */
  readonly task?: TaskStatus | undefined;
  readonly threadStatus: ThreadStatus;
  readonly error?: NonNullable<RunRecord["error"]>;
  readonly view?: ThreadView;
  readonly rolledBack?: boolean;
}

export class Execution {
  private readonly run: RunRecord;
  private readonly signal: AbortSignal;
  private readonly writer: EventWriter;
  private shape: StreamShape | undefined;
  private agent: AnyGraph | undefined;
  private graphId: string | undefined;
  private held: HeldThread | undefined;
  /** The checkpoint the thread was at before the run; undefined for none. */
  private begunAt: string | undefined;
  /** A worker has begun it before. */
  private isAgain = false;

  constructor(
    private readonly claim: RunClaim,
    private readonly parts: ExecutionParts,
    private readonly signals: RunSignals,
    private readonly control: RunControl,
    private readonly steering: Steering,
    private readonly action: () => "interrupt" | "rollback" | undefined,
  ) {
    this.run = claim.run;
    this.signal = signals.stop;
    this.writer = createEventWriter(parts.records.events, claim);
  }

  async whole(): Promise<RunEnd> {
    try {
      return await this.ended();
    } catch (error) {
      if (error instanceof RunStopped && error.why === "leave") return await this.release();
      if (isLoss(error)) return { kind: "lost" };
      throw error;
    } finally {
      await this.held?.release().catch(() => undefined);
    }
  }

  /** A run that cannot be ended as it went has failed: another attempt would meet the same error. */
  private async ended(): Promise<RunEnd> {
    try {
      return await this.finish(await this.outcome());
    } catch (error) {
      if (error instanceof RunStopped || isLoss(error) || isOutage(error)) throw error;
      this.parts.onError(error);
      return this.finish({ status: "error", threadStatus: "error", error: this.parts.errorWords(error) }, []);
    }
  }

  private async outcome(): Promise<Ending> {
    try {
      if (await isStalled(this.parts, this.claim)) return this.abandoned();
      await this.prepare();
      if (this.signal.aborted) throw this.signal.reason;
      return await this.rest(await this.work());
    } catch (error) {
      return await this.stopped(error);
    }
  }

  /** Dead-lettered: it stays in the list of runs, with the reason. */
  private abandoned(): Ending {
    const attempts = this.run.attempts - 1;
    const message = `Given up after ${attempts} attempts: each time its worker ended before the run did.`;
    return { status: "error", threadStatus: "error", error: { error: "RUN_ABANDONED", message } };
  }

  private async prepare(): Promise<void> {
    const { run, parts, signal } = this;
    const before = await beginningOf(parts.records.events, run.run_id);
    this.isAgain = before !== undefined;
    this.begunAt = before?.begunAt;
    this.held = await claimThread(parts.saver, run.thread_id, parts.claimTtlMs, signal);
    const head = await headOf(parts.saver, run.thread_id);
    if (before === undefined) this.begunAt = head;
    await this.write("metadata", {
      run_id: run.run_id,
      thread_id: run.thread_id,
      attempt: run.attempts,
      ...(before === undefined && head !== undefined && { checkpoint_id: head }),
    });
    // Before anything else: the next worker must know where it began.
    await this.writer.flush();
  }

  /** How the thread stands behind it. */
  private async work(): Promise<ThreadView> {
    const { run, steering } = this;
    const assistant = await this.load();
    this.shape = streamShape(requestedModes(run.request), publicKeys(this.agent!));
    const isBegun = this.isAgain && (await headOf(this.parts.saver, run.thread_id)) !== this.begunAt;
    await steering.look();
    if (isBegun) steering.note((await this.view()).messageIds);
    let input = isBegun ? null : await this.firstInput();
    if (input === NOTHING) return this.view();
    for (let first = !isBegun; ; first = false) {
      await this.stream(input, assistant, first);
      const view = await this.view();
      steering.note(view.messageIds);
      const mail = steering.take(view.next);
      if (mail.length === 0) return view;
      await this.tellMail(mail);
      input = new Command({ update: { messages: mail.map(mailMessage) } });
    }
  }

  /** An answer to an interrupt is not mixed with mail. */
  private async firstInput(): Promise<unknown> {
    const { request, thread_id } = this.run;
    const input = runInput(request);
    if (isCommand(input)) return namedAnswer(this.agent!, thread_id, input);
    const isForMail = input === null && isMailRun(this.run);
    if (input === null && !isForMail) return input;
    const mail = this.steering.take();
    if (isForMail && mail.length === 0)
      return (await hasTaskNews(this.parts.records.mail, this.agent!, thread_id))
        ? { messages: [] }
        : NOTHING;
    if (mail.length === 0 && (await isKnownToThread(this.parts.records, this.agent!, this.run, input)))
      return NOTHING;
    await this.tellMail(mail);
    return withMail(input, mail, this.run);
  }

  private async tellMail(mail: ReturnType<Steering["take"]>): Promise<void> {
    for (const one of mail)
      if (one.kind === "steer" || one.kind === "follow-up")
        await this.write(one.kind, { id: one.id, kind: one.kind, message: wireMessage(mailMessage(one)) });
  }

  private async load(): Promise<Assistant> {
    const { owner, assistant_id } = this.run;
    const found =
      this.parts.registry.assistant(assistant_id) ??
      (await this.parts.records.assistants.get(owner, assistant_id));
    if (found === undefined) throw new Error("The assistant of the run is not there any more.");
    this.graphId = found.graph_id;
    this.agent = await this.parts.registry.load(found.graph_id);
    if (keepsTasks(this.agent)) this.steering.leaveTaskEnds();
    return found;
  }

  private async stream(input: unknown, assistant: Assistant, first: boolean): Promise<void> {
    const { run, signal, control, steering, held: claim } = this;
    const shape = this.shape!;
    const callbacks = this.parts.metrics?.callbacks();
    const config = runConfig({ run, assistant, signal, control, claim, callbacks, stops: steering.stops });
    config.configurable[ASYNC_TASK_HOST_CONFIG_KEY] = this.parts.taskHosts(this.claim, {
      configurable: clientConfigurable(config.configurable),
      context: config.context,
    });
    config.configurable[SUBAGENT_CONTROL_CONFIG_KEY] = steering.orders.control;
    const chosen = first ? chosenCheckpoint(run.request) : {};
    // It was there when the run was asked for, which may be long ago.
    await checkCheckpointIsThere(this.agent!, {
      threadId: run.thread_id,
      checkpointId: chosen.checkpoint_id,
    });
    Object.assign(config.configurable, chosen);
    const subgraphs = run.request.stream_subgraphs === true;
    const options = { ...config, streamMode: [...shape.modes], subgraphs } as never;
    try {
      if (shape.wantsEvents) await this.streamAll(input, options, subgraphs);
      else
        for await (const chunk of await this.agent!.stream(input as never, options))
          await this.emit(chunk, subgraphs);
    } catch (error) {
      // The answer is stored already: an attempt before this one was cut off behind it.
      if (!this.isAgain || !isCommand(input) || !isStaleAnswer(error)) throw error;
      await this.stream(null, assistant, false);
    }
  }

  /** Mode `events`: everything that happens, the chunks of the graph's own stream among it. */
  private async streamAll(input: unknown, options: never, subgraphs: boolean): Promise<void> {
    const all: AsyncIterable<EngineEvent> = this.agent!.streamEvents(
      input as never,
      { ...(options as object), version: "v2" } as never,
    ) as never;
    for await (const event of all) {
      const isOwn = event.run_id === this.run.run_id && event.event === "on_chain_stream";
      if (isOwn) await this.emit(event.data.chunk, subgraphs);
      else if (!event.tags?.includes("langsmith:hidden")) await this.write("events", shownEvent(event));
    }
  }

  private async emit(chunk: unknown, subgraphs: boolean): Promise<void> {
    const [namespace, mode, payload] = (subgraphs ? chunk : [[], ...(chunk as unknown[])]) as [
      string[],
      string,
      unknown,
    ];
    for (const { event, data } of this.shape!.events(namespace ?? [], mode, payload))
      await this.write(event, data);
  }

  private write(event: string, data: unknown): Promise<void> {
    return this.writer.write({ event, data: this.parts.wireJson(data, { pieces: PIECES.test(event) }) });
  }

  private view(): Promise<ThreadView> {
    return readThread(this.agent!, this.run.thread_id);
  }

  /** The graph has stopped: it is done, or waits for a person. */
  private async rest(view: ThreadView): Promise<Ending> {
    await this.steering.settle(view.messageIds);
    // A question that is asked again, because its answer did not fit, leaves nothing that comes next.
    return view.next.length > 0 || Object.keys(view.interrupts).length > 0
      ? { status: "interrupted", threadStatus: "interrupted", view }
      : { status: "success", threadStatus: "idle", view, task: this.taskStatus(view) };
  }

  /** A run may stop without having done its task, when its model was cut off or refused. */
  private taskStatus(view: ThreadView | undefined): TaskStatus | undefined {
    if (!this.claim.isTask || view === undefined) return undefined;
    return asyncTaskReport(view.all, "").status === "success" ? "success" : "error";
  }

  private async stopped(error: unknown): Promise<Ending> {
    // Without storage the end of the run is unknown: the next worker continues after the stored steps.
    if (isLoss(error) || isOutage(error)) throw error;
    const { reason } = this.signal;
    const why = this.signal.aborted && reason instanceof RunStopped ? reason.why : undefined;
    if (why === "lost") throw new ClaimLost();
    if (why === "leave" || (why === undefined && isGraphDrained(error as Error)))
      throw new RunStopped("leave");
    if (why === "cancel") return this.cancelled();
    return why === "timeout" ? this.failed(reason, "timeout") : this.failed(error, "error");
  }

  private async failed(error: unknown, status: "timeout" | "error"): Promise<Ending> {
    const view = this.agent === undefined ? undefined : await this.view();
    if (view) await this.steering.settle(view.messageIds);
    if (status === "error") this.parts.onError(error);
    return { status, threadStatus: "error", error: this.parts.errorWords(error), view };
  }

  private async cancelled(): Promise<Ending> {
    const rolledBack = this.action() === "rollback";
    if (this.isAgain && this.agent === undefined) {
      const failure = await this.takeUp();
      if (failure) return this.failed(failure.error, "error");
    }
    const { parts, run, agent, begunAt, held } = this;
    const replacement = await replacementOf(parts.records, run);
    if (replacement) await this.write("replaced", replacement);
    if (rolledBack && agent)
      await rollBack({ saver: parts.saver, agent, threadId: run.thread_id, begunAt, held });
    const view = agent === undefined ? undefined : await this.view();
    if (view && !rolledBack) await this.steering.settle(view.messageIds);
    const waits = view !== undefined && Object.keys(view.interrupts).length > 0;
    const threadStatus = waits ? "interrupted" : "idle";
    return { status: "interrupted", task: "cancelled", threadStatus, view, rolledBack };
  }

  /** Takes over an earlier worker's work, even of a cancelled run. Returns the error if its agent cannot be made. */
  private async takeUp(): Promise<{ readonly error: unknown } | undefined> {
    const { parts, run, claim, signals } = this;
    this.held ??= await claimThread(parts.saver, run.thread_id, parts.claimTtlMs, signals.gone);
    // In this order: the next worker of the run takes the thread after us. A worker in between may have ended the run.
    if ((await parts.records.runs.keepClaim(claim, parts.claimTtlMs)) === undefined) throw new ClaimLost();
    try {
      await this.load();
    } catch (error) {
      if (isOutage(error)) throw error;
      return { error };
    }
    await this.steering.look();
    return undefined;
  }

  /** `events` are the events that are not stored yet. */
  private async finish(ending: Ending, events?: readonly NewEvent[]): Promise<RunEnd> {
    const { run } = this;
    const { records, wireJson } = this.parts;
    const { status, task, threadStatus, error, view, rolledBack = false } = ending;
    // A long thread took a while to read and takes as long to write: others get a turn in between.
    await nextTurn();
    const shown: ShownEnd = view ? shownEnd(view, status, wireJson) : {};
    const last = [...(events ?? (await this.writer.take()))];
    if (error) last.push({ event: "error", data: wireJson(error) });
    last.push({ event: "end", data: wireJson({ run_id: run.run_id, status, outcome: shown.outcome }) });
    // Clients that wait for the end may use the thread at once.
    await this.held?.release().catch(() => undefined);
    await this.steering.orders.drop();
    const isMine = await records.runs.finish(
      this.claim,
      {
        status,
        error,
        threadStatus,
        ...shown,
        ...(task && { task }),
        ...(await webhookOf(this.parts, run, { ...ending, ...shown })),
      },
      last,
    );
    const agent = this.graphId;
    return isMine ? { kind: "finished", status, error, ...shown, rolledBack, agent } : { kind: "lost" };
  }

  private async release(): Promise<RunEnd> {
    try {
      await this.writer.flush();
    } catch (error) {
      if (isLoss(error)) return { kind: "lost" };
      throw error;
    }
    await this.held?.release().catch(() => undefined);
    await this.parts.records.runs.release(this.claim);
    return { kind: "released" };
  }
}

/** Events whose messages are still growing. */
const PIECES = /^messages(?:\/partial)?(?:\||$)/;

const NOTHING = Symbol("nothing to do");

function isLoss(error: unknown): boolean {
  if (error instanceof RunStopped) return error.why === "lost";
  return error instanceof ClaimLost || (error as { code?: unknown } | null)?.code === "CLAIM_LOST";
}
