/** One request to the model, through the `wrapModelCall` of every middleware that has one. */
import { AIMessage, type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { type Command, isGraphBubbleUp } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import type { TaskConfig } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { type Loop, stateView } from "../contract/loop.ts";
import { AGAIN, type Ask, type Outgoing, type RequestView } from "../contract/stages.ts";
import { bindingOptions, type ResolvedStrategy, responseStrategy } from "../contract/structured-output.ts";
import { shapedTools, toolName } from "../contract/tool-shape.ts";
import type { Messages } from "../messages/messages.ts";
import type { Outcome } from "../messages/outcome.ts";
import { markUnchanged, requestMessages } from "../messages/request.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { bindTools, type ChatModel, holdKeys, instanceOf, sameItems } from "../providers/model-source.ts";
import { isMediaRefused, mediaRefusal } from "../providers/refused-media.ts";
import { withoutOwnRetries } from "../request/model-client.ts";
import { promptForTools } from "../request/prompt-for-tools.ts";
import { renderer } from "../request/render.ts";
import { mediaLoader, requestMedia } from "../request/request-media.ts";
import { mediaForm } from "../request/request-media-form.ts";
import { requestProvider } from "../request/request-provider.ts";
import { throwIfClaimLost } from "../task/claim.ts";
import { RunEnded } from "../task/run-ended-error.ts";
import { runtimeFor } from "../task/runtime.ts";
import { LoopTask } from "../task/stage-task.ts";
import { isAnyCommand } from "../task/updates.ts";
import { askClient } from "./ask-client.ts";
import { lastModelOf, rememberLastModel } from "./last-model.ts";
import { askWithRetries, CUT_ONLY } from "./model-retry.ts";

/** LangChain's ModelRequest, as far as the loop builds and reads it. */
interface ModelRequest {
  model: ChatModel;
  messages: Messages;
  systemMessage: SystemMessage;
  systemPrompt: string;
  tools: readonly AnyTool[];
  toolChoice?: unknown;
  modelSettings?: Record<string, unknown>;
  responseFormat?: unknown;
  state: Record<string, unknown>;
  runtime: unknown;
}

export interface ModelReply {
  /** Writes of stages are stored even if the call fails. */
  readonly task: LoopTask;
  /** The request is to be built anew once that is stored; there is no message then. */
  readonly again?: boolean;
  /** A stage ended the run: nothing was asked, or its reply does not count. */
  readonly ends?: Outcome;
  /** Absent when a middleware answered with a command alone. */
  readonly message: AIMessage | undefined;
  readonly commands: readonly Command[];
  readonly strategy: ResolvedStrategy | undefined;
  /** Tools this request offered that the agent was not built with, by name. */
  readonly extraTools: ReadonlyMap<string, AnyTool> | undefined;
}

interface Call {
  readonly loop: Loop;
  readonly config: TaskConfig;
  readonly task: LoopTask;
  /** The original request, before middleware changes it. */
  readonly view: RequestView;
  /** The messages the middleware was given. */
  readonly listed: Messages;
  readonly initial: ModelRequest;
  /** Prompt sections that are known only in a run. */
  readonly spoken: readonly string[];
  /** The model that was asked last: a middleware may choose another one. */
  asked: ChatModel | undefined;
  message: AIMessage | undefined;
  readonly commands: Command[];
  strategy: ResolvedStrategy | undefined;
  extraTools: Map<string, AnyTool> | undefined;
}

type Handler = (request: ModelRequest) => Promise<AIMessage>;

export async function callModel(loop: Loop, config: TaskConfig, messages: Messages): Promise<ModelReply> {
  const task = new LoopTask(loop, config);
  try {
    for (const stages of loop.stages) if (stages.turn !== undefined) await stages.turn(messages, task);
    const reply = await takeTurn(loop, config, task, messages);
    return task.ended === undefined ? reply : { ...nothing(task), again: false, ends: task.ended };
  } catch (error) {
    const ends = task.ended ?? (error instanceof RunEnded ? error.outcome : undefined);
    if (ends === undefined || config.signal?.aborted) throw error;
    return { ...nothing(task), again: false, ends };
  }
}

async function takeTurn(
  loop: Loop,
  config: TaskConfig,
  task: LoopTask,
  messages: Messages,
): Promise<ModelReply> {
  const spoken = await spokenSections(loop, task);
  const view = await requestView(loop, task, messages, spoken);
  const listed = await viewedMessages(loop, view, task);
  if (listed === AGAIN) return nothing(task);
  const initial = firstRequest(loop, config, view, listed, await loop.model.resolve(config));
  const call: Call = {
    loop,
    config,
    task,
    view,
    listed,
    initial,
    spoken,
    asked: undefined,
    message: undefined,
    commands: [],
    strategy: undefined,
    extraTools: undefined,
  };
  let handler: Handler = (request) => ask(call, request);
  for (const middleware of loop.modelWrappers.toReversed()) handler = wrap(call, middleware, handler);
  try {
    await handler(initial);
  } catch (error) {
    if (!(await isAskedAgain(call, error))) throw error;
    return nothing(task);
  }
  throwIfClaimLost(config);
  return call;
}

function nothing(task: LoopTask): ModelReply {
  return {
    task,
    again: true,
    message: undefined,
    commands: [],
    strategy: undefined,
    extraTools: undefined,
  };
}

const NO_SYSTEM_MESSAGE = new SystemMessage("");

async function spokenSections(loop: Loop, task: LoopTask): Promise<readonly string[]> {
  const visible = namesOf(loop.tools);
  const spoken: string[] = [];
  for (const { section } of loop.stages) if (section !== undefined) spoken.push(await section(visible, task));
  return spoken;
}

async function requestView(
  loop: Loop,
  task: LoopTask,
  thread: Messages,
  spoken: readonly string[],
): Promise<RequestView> {
  return {
    thread,
    valid: requestMessages(thread),
    system: loop.systemMessage(namesOf(loop.tools), spoken) ?? NO_SYSTEM_MESSAGE,
    tools: loop.tools,
    model: lastModelOf(loop, thread) ?? (await loop.model.resolve(task.config)),
    render: renderer(loop.stages, task),
  };
}

function viewedMessages(
  loop: Loop,
  view: RequestView,
  task: LoopTask,
): Messages | Promise<Messages | typeof AGAIN> | typeof AGAIN {
  const stage = loop.stages.find((candidate) => candidate.view !== undefined);
  return stage?.view?.(view, task) ?? view.render(view.valid);
}

/** The run was not stopped, and a stage knows a way to ask that may succeed. */
async function isAskedAgain(
  { loop, view: given, task, config, asked }: Call,
  error: unknown,
): Promise<boolean> {
  if (config.signal?.aborted || (error !== null && isGraphBubbleUp(error))) return false;
  if (isMediaRefused(error)) return true;
  const view = asked === undefined ? given : { ...given, model: asked };
  for (const { failed } of loop.stages) if ((await failed?.(error, view, task)) === AGAIN) return true;
  return false;
}

function firstRequest(
  loop: Loop,
  config: TaskConfig,
  view: RequestView,
  messages: Messages,
  model: ChatModel,
): ModelRequest {
  const wrapped = loop.modelWrappers.length > 0;
  return {
    model,
    // Middleware may edit the lists it is given; the agent's own must not change under it.
    messages: wrapped ? messages.slice() : messages,
    systemMessage: view.system,
    systemPrompt: wrapped ? view.system.text : "",
    tools: wrapped ? loop.tools.slice() : loop.tools,
    responseFormat: loop.responseFormat,
    state: wrapped ? stateView(loop, config) : {},
    runtime: wrapped ? runtimeFor(undefined, config) : undefined,
  };
}

const toolNames = new WeakMap<readonly AnyTool[], ReadonlySet<string>>();

export function namesOf(tools: readonly AnyTool[]): ReadonlySet<string> {
  const known = toolNames.get(tools);
  if (known) return known;
  const names = new Set(tools.map((tool) => toolName(tool)));
  toolNames.set(tools, names);
  return names;
}

function wrap(call: Call, middleware: AgentMiddleware, inner: Handler): Handler {
  const hook = middleware.wrapModelCall as unknown as (request: ModelRequest, handler: Handler) => unknown;
  return async (request) => {
    const handler: Handler = (changed) => inner(settleSystemMessage(request, changed, middleware.name));
    const result = await hook({ ...request, runtime: runtimeFor(middleware, call.config) }, handler);
    if (AIMessage.isInstance(result)) {
      call.message = result;
      return result;
    }
    if (!isAnyCommand(result))
      throw new DeepwrightError(
        "INVALID_MIDDLEWARE_RESULT",
        `The wrapModelCall of middleware '${middleware.name}' must return an AIMessage or a Command.`,
      );
    call.commands.push(result);
    return call.message as AIMessage;
  };
}

/** A middleware changes either `systemPrompt` or `systemMessage`; both then say the same. */
function settleSystemMessage(given: ModelRequest, changed: ModelRequest, name: string): ModelRequest {
  const prompt = changed.systemPrompt !== given.systemPrompt;
  const message = changed.systemMessage !== given.systemMessage;
  if (prompt && message)
    throw new DeepwrightError(
      "INVALID_MIDDLEWARE_RESULT",
      `The middleware '${name}' changed both systemPrompt and systemMessage of one request.`,
    );
  if (prompt) return { ...changed, systemMessage: new SystemMessage(changed.systemPrompt ?? "") };
  if (message) return { ...changed, systemPrompt: changed.systemMessage?.text ?? "" };
  return changed;
}

/** The innermost handler: binds, asks, remembers. */
async function ask(call: Call, wanted: ModelRequest): Promise<AIMessage> {
  const { loop } = call;
  const request = withShapedTools(loop, await withModel(call, wanted));
  const { answer, sent } = await askAround(call, await prepare(call, request));
  rememberLastModel(loop, call.view.thread, sent.model === call.initial.model ? undefined : sent.model);
  const reply = await takeReply(call, answer, sent);
  call.strategy = strategyFor(loop, request, sent.model);
  call.extraTools = extraTools(loop, request.tools);
  call.message = reply;
  return reply;
}

/** A middleware may name a model instead of passing one, or pass one that stands for another. */
async function withModel({ loop, config }: Call, request: ModelRequest): Promise<ModelRequest> {
  const wanted = request.model as ChatModel | string;
  const model = await (typeof wanted === "string" ? loop.modelNamed(wanted) : instanceOf(wanted, config));
  return model === wanted ? request : { ...request, model };
}

function strategyFor(loop: Loop, request: ModelRequest, model: ChatModel): ResolvedStrategy | undefined {
  const { responseFormat } = request;
  const strategy = responseFormat === loop.responseFormat ? loop.response : responseStrategy(responseFormat);
  return strategy?.resolve(model);
}

/** The request in the form the provider of its model reads. */
async function prepare(call: Call, request: ModelRequest): Promise<Outgoing> {
  const { loop } = call;
  const strategy = strategyFor(loop, request, request.model);
  const settings = request.modelSettings ?? {};
  const structured = strategy && bindingOptions(strategy, settings);
  const tools = structured?.tools.length ? [...request.tools, ...structured.tools] : request.tools;
  const choice = request.toolChoice === undefined ? {} : { tool_choice: request.toolChoice };
  // Facts about a list are kept by its identity; a copy would have none.
  const given = sameItems(request.messages, call.listed) ? call.listed : request.messages;
  const messages = requestMessages(markUnchanged(call.view.thread, given));
  if (messages.length === 0)
    throw new DeepwrightError("INVALID_INPUT", "There is no message to answer.", {
      hint: 'Pass at least one, e.g. {messages: [{role: "user", content: "Hi"}]}.',
    });
  const system = systemMessageFor(call, request);
  const media = await requestMedia(messages, request.model, mediaLoader(loop.stages, call.task));
  const readable = requestProvider(media, request.model, { ...structured?.options, ...settings, tools });
  return finished(call, {
    model: request.model,
    messages: withSystem(system, readable),
    tools,
    settings: { ...structured?.options, ...settings, ...choice },
    for: async (model) => prepare(call, await withModel(call, { ...request, model: model as ChatModel })),
  });
}

/** Removes excluded tools, also those that a middleware adds. */
function withShapedTools(loop: Loop, request: ModelRequest): ModelRequest {
  if (sameItems(request.tools, loop.tools)) return request;
  const tools = shapedTools(request.tools, loop.toolShape);
  return tools === request.tools ? request : { ...request, tools };
}

async function finished({ loop, task }: Call, first: Outgoing): Promise<Outgoing> {
  let outgoing = first;
  for (const stages of loop.stages)
    if (stages.outgoing !== undefined) outgoing = await stages.outgoing(outgoing, task);
  return outgoing;
}

/** Asks the model through the stages around the request. `sent` is the request that was answered. */
async function askAround(call: Call, first: Outgoing): Promise<{ answer: AIMessage; sent: Outgoing }> {
  const { loop, config, task } = call;
  let sent = first;
  let next: Ask = (outgoing) => {
    sent = outgoing;
    call.asked = outgoing.model;
    holdKeys(outgoing.model);
    const { model, settings } = outgoing.attempt === undefined ? outgoing : withoutOwnRetries(outgoing);
    const bound = bindTools(model, outgoing.tools as readonly AnyTool[], settings);
    const ask: Ask = ({ attempt }) => askClient(bound, [...outgoing.messages], config, attempt);
    const asked =
      outgoing.attempt === undefined ? askWithRetries(outgoing, ask, task, CUT_ONLY) : ask(outgoing);
    return asked.catch((error) => {
      throw refusalOf(error, outgoing) ?? error;
    });
  };
  for (const stages of loop.callStages) {
    const inner = next;
    next = (outgoing) => stages.call?.(outgoing, inner, task) ?? inner(outgoing);
  }
  return { answer: await next(first), sent };
}

/** Only a model of unknown abilities is sent media on trial. */
function refusalOf(error: unknown, { model, messages }: Outgoing): Error | undefined {
  return mediaForm(model).trustsPeople ? mediaRefusal(error, model, messages) : undefined;
}

async function takeReply({ loop, task }: Call, first: AIMessage, sent: Outgoing): Promise<AIMessage> {
  let reply = first;
  for (const stages of loop.stages)
    if (stages.reply !== undefined) reply = await stages.reply(reply, sent, task);
  return reply;
}

/** `text` makes blocks of every prompt, also of one that is a text. */
function withSystem(system: SystemMessage, messages: Messages): Messages {
  const words = typeof system.content === "string" ? system.content : system.text;
  return words === "" ? messages : [system as BaseMessage].concat(messages);
}

/** Sections about tools a middleware took away are left out, also when it added words of its own. */
function systemMessageFor(call: Call, request: ModelRequest): SystemMessage {
  const { initial, loop } = call;
  const given = request.systemMessage ?? NO_SYSTEM_MESSAGE;
  if (sameItems(request.tools, loop.tools)) return given;
  const narrow = loop.systemMessage(new Set(request.tools.map(toolName)), call.spoken) ?? NO_SYSTEM_MESSAGE;
  return promptForTools(initial.systemMessage, narrow, given);
}

function extraTools(loop: Loop, offered: readonly AnyTool[]): Map<string, AnyTool> | undefined {
  if (sameItems(offered, loop.tools)) return undefined;
  const extra = offered.filter((tool) => isRunnable(tool) && loop.clientTools.get(toolName(tool)) !== tool);
  return extra.length > 0 ? new Map(extra.map((tool) => [toolName(tool), tool])) : undefined;
}

export function isRunnable(tool: unknown): boolean {
  return typeof (tool as { invoke?: unknown } | undefined)?.invoke === "function";
}
