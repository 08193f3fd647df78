/**
 * Stages as hooks of LangChain's contract, for a loop that does not know stages.
 *
 * In such a loop a request is rebuilt at once instead of in a superstep of its own, and writes of stages reach the
 * state together with the reply or the result.
 */
import { AIMessage, type BaseMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Command, getConfig } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import type { BackendRuntime } from "../../backends/backend.ts";
import { treeOf } from "../../backends/run-tree.ts";
import type { TaskConfig } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { once } from "../../once.ts";
import {
  AGAIN,
  type Ask,
  type Outgoing,
  type RequestView,
  type Stages,
  type StageTask,
} from "../contract/stages.ts";
import type { Messages } from "../messages/messages.ts";
import {
  REMINDERS,
  type Reminder,
  reminderMessageId,
  remindersIn,
  withReminders,
} from "../messages/reminders.ts";
import { requestMessages } from "../messages/request.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { type ChatModel, namedModels } from "../providers/model-source.ts";
import { withoutOwnRetries } from "../request/model-client.ts";
import { mediaLoader, requestMedia } from "../request/request-media.ts";
import { requestProvider } from "../request/request-provider.ts";
import type { RunObserver } from "../task/run-observer.ts";

type Hooks = Pick<AgentMiddleware, "wrapModelCall" | "wrapToolCall" | "beforeAgent">;

export function hooksForStages(stages: Stages): Hooks {
  const { result, input, tree } = stages;
  const observer = once(() => tree?.(treeOf({}), {})?.observer as RunObserver | undefined);
  return {
    wrapModelCall: ((request: ModelRequest, handler: ModelHandler) =>
      callModel(stages, request, observedHandler(observer, handler))) as never,
    ...((result ?? tree) && {
      wrapToolCall: ((request: ToolRequest, handler: ToolHandler) =>
        callTool(result, request, observedTool(observer, handler))) as never,
    }),
    ...(input && {
      beforeAgent: ((state: State, runtime: Runtime) => takeInput(input, state, runtime)) as never,
    }),
  };
}

type State = Record<string, unknown> & { readonly messages?: readonly BaseMessage[] };
type Runtime = {
  readonly context?: unknown;
  readonly store?: BackendRuntime["store"];
  readonly signal?: AbortSignal;
};

interface ModelRequest {
  readonly model: ChatModel;
  readonly messages: BaseMessage[];
  readonly systemMessage: SystemMessage;
  readonly tools: readonly AnyTool[];
  readonly modelSettings?: Record<string, unknown>;
  readonly state: State;
  readonly runtime: Runtime;
}

type ModelHandler = (request: ModelRequest) => Promise<AIMessage>;

interface ToolRequest {
  readonly toolCall: { readonly name: string; readonly args: Record<string, unknown>; readonly id?: string };
  readonly tool?: unknown;
  readonly state: State;
  readonly runtime: Runtime;
}

type ToolHandler = (request: ToolRequest) => Promise<ToolMessage | Command>;

/** Requests and calls as the observer of a `tree` stage sees them. Other loops do not tell where a run begins. */
function observedHandler(observer: () => RunObserver | undefined, handler: ModelHandler): ModelHandler {
  return async (request) => {
    const { model, systemMessage: system } = request;
    const messages = system?.text ? [system, ...request.messages] : request.messages;
    const ask = async (): Promise<AIMessage> => handler(request);
    return observer()?.ask({ model, messages }, getConfig() as TaskConfig, ask) ?? ask();
  };
}

function observedTool(observer: () => RunObserver | undefined, handler: ToolHandler): ToolHandler {
  return async (request) => {
    const call = { ...request.toolCall, type: "tool_call" as const };
    const execute = async (): Promise<ToolMessage | Command> => handler(request);
    const observed = { call, isKnown: request.tool !== undefined };
    return observer()?.call(observed, getConfig() as TaskConfig, execute) ?? execute();
  };
}

/** The task of a hook. It collects the writes. */
class HookTask implements StageTask {
  readonly config: TaskConfig = getConfig() as TaskConfig;
  readonly written: Record<string, unknown> = {};
  readonly #state: State;
  readonly #runtime: Runtime;

  readonly #model: ChatModel | undefined;

  constructor(state: State, runtime: Runtime, model?: ChatModel) {
    this.#state = state;
    this.#runtime = runtime;
    this.#model = model;
  }

  model(): ChatModel | undefined {
    return this.#model;
  }

  get signal(): AbortSignal | undefined {
    return this.config?.signal ?? this.#runtime.signal;
  }

  get runtime(): BackendRuntime {
    const { context, store } = this.#runtime;
    return { state: this.#state, context, config: this.config, ...(store && { store }) };
  }

  read(key: string): unknown {
    return key in this.written ? this.written[key] : this.#state[key];
  }

  write(key: string, value: unknown): void {
    this.written[key] = value;
  }

  remind(reminder: Reminder): void {
    this.written[REMINDERS] = [...remindersIn(this.written[REMINDERS]), reminder];
  }

  /** Reminders of the thread and of this task. */
  reminders(): readonly Reminder[] {
    return [...remindersIn(this.#state[REMINDERS]), ...remindersIn(this.written[REMINDERS])];
  }

  get hasWritten(): boolean {
    return Object.keys(this.written).length > 0;
  }
}

/** How often a request may be built anew; stages promise to end earlier. */
const MOST_TRIES = 8;

async function callModel(
  stages: Stages,
  request: ModelRequest,
  handler: ModelHandler,
): Promise<AIMessage | Command> {
  const task = new HookTask(request.state, request.runtime, request.model);
  const system = await withSection(stages, request, task);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const view = viewOf(stages, { ...request, systemMessage: system }, task);
    const messages = (await stages.view?.(view, task)) ?? view.render(view.valid);
    if (messages === AGAIN) continue;
    const shown = stages.media
      ? await requestMedia(messages, request.model, mediaLoader([stages], task))
      : messages;
    const first = await outgoing(stages, { ...request, systemMessage: system }, shown, task);
    const asked = askedWith(request, handler, messages, stages, task);
    try {
      const reply = await (stages.call?.({ ...first, for: asked.for }, asked.next, task) ??
        asked.next(first));
      return await answer(stages, reply, asked.sent ?? first, task);
    } catch (error) {
      if (task.signal?.aborted || (await stages.failed?.(error, view, task)) !== AGAIN) throw error;
    }
  }
  throw new DeepwrightError("INVALID_MIDDLEWARE_RESULT", "A request was built anew too often.");
}

const modelNamed = namedModels();

/** The final `sent` is known once the model was asked. */
interface Asked {
  readonly next: Ask;
  readonly for: (model: ChatModel | string) => Promise<Outgoing>;
  sent: Outgoing | undefined;
}

/**
 * Turns the client's retries off while a stage repeats requests itself. That loop cannot take a request back: an
 * abandoned request is not waited for.
 */
function askedWith(
  request: ModelRequest,
  handler: ModelHandler,
  messages: Messages,
  stages: Stages,
  task: HookTask,
): Asked {
  const asked: Asked = {
    sent: undefined,
    next: (sent) => {
      asked.sent = sent;
      return handler(
        requestOf(request, sent.attempt === undefined ? sent : { ...sent, ...withoutOwnRetries(sent) }),
      );
    },
    for: async (wanted) => {
      const model = typeof wanted === "string" ? await modelNamed(wanted) : wanted;
      const shown = await requestMedia(messages, model, mediaLoader([stages], task));
      const settings = request.modelSettings ?? {};
      const readable = requestProvider(shown, model, { ...settings, tools: request.tools });
      return { ...(await outgoing(stages, { ...request, model }, readable, task)), for: asked.for };
    },
  };
  return asked;
}

async function withSection(stages: Stages, request: ModelRequest, task: StageTask): Promise<SystemMessage> {
  const names = new Set(request.tools.map((tool) => (tool as { name?: string }).name ?? ""));
  const sections = [stages.prompt?.(names), await stages.section?.(names, task)];
  const words = sections.filter(Boolean).join("\n\n");
  if (words === "") return request.systemMessage;
  const { text } = request.systemMessage;
  return text === ""
    ? new SystemMessage(words)
    : (request.systemMessage.concat(`\n\n${words}`) as SystemMessage);
}

function viewOf(stages: Stages, request: ModelRequest, task: HookTask): RequestView {
  const { render } = stages;
  return {
    thread: request.messages,
    valid: requestMessages(request.messages),
    system: request.systemMessage,
    tools: request.tools,
    model: request.model,
    render: (messages: Messages) =>
      withReminders(
        render === undefined ? messages : messages.map((message) => render(message)),
        absentFrom(messages, task.reminders()),
      ),
  };
}

/** Another middleware has put the others in already. */
function absentFrom(messages: Messages, reminders: readonly Reminder[]): readonly Reminder[] {
  if (reminders.length === 0) return reminders;
  const present = new Set(messages.map((message) => message.id));
  return reminders.filter((reminder) => !present.has(reminderMessageId(reminder)));
}

async function outgoing(
  stages: Stages,
  request: ModelRequest,
  messages: Messages,
  task: StageTask,
): Promise<Outgoing> {
  const { model, tools, modelSettings: settings = {}, systemMessage: system } = request;
  const first: Outgoing = {
    model,
    tools,
    settings,
    messages: system.text === "" ? messages : [system, ...messages],
  };
  return (await stages.outgoing?.(first, task)) ?? first;
}

function requestOf(request: ModelRequest, sent: Outgoing): ModelRequest {
  const [first, ...rest] = sent.messages;
  const isSystem = SystemMessage.isInstance(first);
  return {
    ...request,
    model: sent.model,
    tools: sent.tools as readonly AnyTool[],
    messages: isSystem ? rest : [...sent.messages],
    ...(isSystem && { systemMessage: first }),
    ...(Object.keys(sent.settings).length > 0 && { modelSettings: { ...sent.settings } }),
  };
}

/** A command is the only way to write beside the reply. */
async function answer(
  stages: Stages,
  reply: AIMessage,
  sent: Outgoing,
  task: HookTask,
): Promise<AIMessage | Command> {
  const taken = AIMessage.isInstance(reply) ? ((await stages.reply?.(reply, sent, task)) ?? reply) : reply;
  if (!task.hasWritten) return taken;
  const isChanged = taken !== reply && taken.id !== undefined;
  return new Command({ update: { ...task.written, ...(isChanged && { messages: [taken] }) } });
}

async function callTool(
  take: Stages["result"],
  request: ToolRequest,
  handler: ToolHandler,
): Promise<ToolMessage | Command> {
  const task = new HookTask(request.state, request.runtime);
  const call = { ...request.toolCall, type: "tool_call" as const };
  const given = await handler(request);
  if (take === undefined) return given;
  if (ToolMessage.isInstance(given)) {
    const message = await take(given, call, task);
    return task.hasWritten ? new Command({ update: { ...task.written, messages: [message] } }) : message;
  }
  const update = given?.update as { messages?: unknown } | undefined;
  if (!Array.isArray(update?.messages)) return given;
  const messages = await Promise.all(
    update.messages.map((message) => (ToolMessage.isInstance(message) ? take(message, call, task) : message)),
  );
  return new Command({ ...given, update: { ...update, ...task.written, messages } } as never);
}

/** Takes the messages that came in since the model's last reply. */
async function takeInput(
  take: NonNullable<Stages["input"]>,
  state: State,
  runtime: Runtime,
): Promise<Record<string, unknown> | undefined> {
  const all = state.messages ?? [];
  const fresh = all.slice(all.findLastIndex((message) => message.type !== "human") + 1);
  if (fresh.length === 0) return undefined;
  const task = new HookTask(state, runtime);
  const taken = await take(fresh, task);
  const changed = taken.filter((message, i) => message !== fresh[i]);
  if (changed.length === 0 && !task.hasWritten) return undefined;
  return { ...task.written, ...(changed.length > 0 && { messages: changed }) };
}
