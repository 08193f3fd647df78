/** Spans for the runs of a tree: handed down in it, so that the agents inside need no middleware of their own. */
import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { withTree } from "../backends/run-tree.ts";
import type { TaskConfig } from "../engine/engine.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import { type ChatModel, holdKeys } from "../loop/providers/model-source.ts";
import type { ObservedAsk, ObservedCall, ObservedRun, RunObserver } from "../loop/task/run-observer.ts";
import { chatAttributes, type ModelNames, modelNames, present, requestAttributes } from "./attributes.ts";
import { withoutSpanCallbacks, withSpanCallbacks } from "./callback-spans.ts";
import type { Redact, Redaction } from "./redaction.ts";
import { SpanRecord, withoutKeys } from "./span-record.ts";
import { tracedModelTasks, tracedToolTasks } from "./traced-tasks.ts";

export interface TelemetrySettings {
  readonly tracer: Tracer;
  readonly captureContent: boolean;
  readonly redact: Redact | undefined;
  /** Said in every span. */
  readonly attributes: Attributes;
}

/** Where in a tree spans are begun. */
interface Position {
  readonly context: Context;
  /** The run, or the call. */
  readonly record: SpanRecord;
  readonly agent: string | undefined;
  readonly thread: string | undefined;
}

/** Marks contexts that were made for a position, and those that the user's spans made of them. */
const POSITION = createContextKey("deepwright position");

export class Telemetry implements RunObserver {
  readonly #settings: TelemetrySettings;
  readonly #redaction: Redaction;
  readonly #position: Position | undefined;

  constructor(settings: TelemetrySettings, redaction: Redaction, position?: Position) {
    this.#settings = settings;
    this.#redaction = redaction;
    this.#position = position;
  }

  /** For a nested agent with settings of its own: content is recorded where both allow it, redacted by both. */
  with(settings: TelemetrySettings): Telemetry {
    if (settings === this.#settings) return this;
    const captureContent = settings.captureContent && this.#settings.captureContent;
    const redaction = this.#redaction.and(settings.redact);
    return new Telemetry({ ...settings, captureContent }, redaction, this.#position);
  }

  async *run<Config extends { readonly configurable?: Record<string, unknown> }, Chunk>(
    { name, isForeign = false }: ObservedRun,
    config: Config,
    start: (config: Config) => AsyncGenerator<Chunk>,
  ): AsyncGenerator<Chunk> {
    const { thread_id: id } = config.configurable ?? {};
    const whose = { agent: name, thread: typeof id === "string" ? id : undefined };
    const inside = this.#begin("invoke_agent", name, SpanKind.INTERNAL, {}, whose);
    const { record, context: own } = inside.#position as Position;
    const given = config as { readonly callbacks?: Callbacks; readonly signal?: AbortSignal };
    const callbacks = isForeign
      ? withSpanCallbacks(given.callbacks, inside)
      : withoutSpanCallbacks(given.callbacks);
    const chunks = start(withTree({ ...config, callbacks }, { observer: inside }));
    const forget = record.endsWith(given.signal, given.signal);
    try {
      for (;;) {
        const step = await context.with(own, () => chunks.next());
        if (step.done) return;
        yield step.value;
      }
    } catch (error) {
      record.threw(error, given.signal);
      throw error;
    } finally {
      forget();
      await context.with(own, () => chunks.return(undefined));
      record.end();
    }
  }

  async ask(
    { model, messages, signal }: ObservedAsk,
    config: TaskConfig,
    ask: () => Promise<AIMessage>,
  ): Promise<AIMessage> {
    holdKeys(model as ChatModel);
    const names = modelNames(model);
    const { record, context: own } = this.beginAsk(names, requestAttributes(model), messages);
    const forget = record.endsWith(signal, config.signal);
    try {
      const reply = await tracedModelTasks.during(taskNamespace(config), () => context.with(own, ask));
      record.replied(reply);
      return reply;
    } catch (error) {
      record.threw(error, config.signal);
      throw error;
    } finally {
      forget();
      record.end();
    }
  }

  async call<Result extends BaseMessage | Command>(
    { call, isKnown }: ObservedCall,
    config: TaskConfig,
    execute: (config: TaskConfig) => Promise<Result>,
  ): Promise<Result> {
    const inside = this.beginCall(isKnown ? call.name : undefined, call.id, call.args);
    const { record, context: own } = inside.#position as Position;
    const callbacks = withSpanCallbacks(config?.callbacks, inside);
    const handed = withTree({ ...config, callbacks }, { observer: inside }) as TaskConfig;
    try {
      const result = await tracedToolTasks.during(taskNamespace(config), () =>
        context.with(own, () => execute(handed)),
      );
      record.returned(result, call.id);
      return result;
    } catch (error) {
      record.threw(error, config?.signal);
      throw error;
    } finally {
      record.end();
    }
  }

  threw(error: unknown): void {
    this.#position?.record.interrupted(error);
  }

  ended({ kind }: Outcome): void {
    this.#position?.record.say({ "deepwright.outcome": kind });
  }

  /** A run says which provider it asks as soon as it knows. */
  beginAsk(
    names: ModelNames,
    attributes: Attributes = chatAttributes(names),
    messages: readonly BaseMessage[] = [],
  ): { readonly record: SpanRecord; readonly context: Context } {
    const inside = this.#begin("chat", names.model, SpanKind.CLIENT, attributes);
    const { record, context: own } = inside.#position as Position;
    this.#position?.record.say(present({ "gen_ai.provider.name": names.provider }));
    record.asks(messages);
    return { record, context: own.setValue(POSITION, this.#position?.record) };
  }

  beginCall(name: string | undefined, id: string | undefined, args: unknown): Telemetry {
    const attributes = present({
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": id,
    });
    const inside = this.#begin("execute_tool", name, SpanKind.INTERNAL, attributes);
    inside.#position?.record.calls(args);
    return inside;
  }

  /** The span of the position, for those who end it themselves. */
  get record(): SpanRecord | undefined {
    return this.#position?.record;
  }

  #begin(
    operation: string,
    what: string | undefined,
    kind: SpanKind,
    attributes: Attributes,
    whose: Pick<Position, "agent" | "thread"> = this.#position ?? NOBODY,
  ): Telemetry {
    const parent = this.#parent();
    const clean = this.#redaction.withoutKeys;
    const all = {
      ...this.#settings.attributes,
      "gen_ai.operation.name": operation,
      ...present({ "gen_ai.agent.name": whose.agent, "gen_ai.conversation.id": whose.thread }),
      ...attributes,
    };
    const name = what ? `${operation} ${clean(what)}` : operation;
    const span = this.#settings.tracer.startSpan(name, { kind, attributes: withoutKeys(all, clean) }, parent);
    return this.#at(span, parent, whose);
  }

  #at(span: Span, parent: Context, { agent, thread }: Pick<Position, "agent" | "thread">): Telemetry {
    const { captureContent } = this.#settings;
    const record = new SpanRecord(span, { captureContent, redaction: this.#redaction });
    const position = { context: trace.setSpan(parent, span), record, agent, thread };
    const marked = { ...position, context: position.context.setValue(POSITION, record) };
    return new Telemetry(this.#settings, this.#redaction, marked);
  }

  /** The active span, if it is one of ours: the user may have begun spans meanwhile. Else the position itself. */
  #parent(): Context {
    const active = context.active();
    const here = this.#position;
    return here === undefined || active.getValue(POSITION) === here.record ? active : here.context;
  }
}

const NOBODY = { agent: undefined, thread: undefined };

function taskNamespace(config: TaskConfig | undefined): string {
  return String(config?.configurable?.checkpoint_ns ?? "");
}
