/** One request to the model, through the `wrapModelCall` of every middleware that has one. */
import { AIMessage, SystemMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import type { TaskConfig } from "../engine.ts";
import { DeepwrightError } from "../errors.ts";
import { throwIfClaimLost } from "./claim.ts";
import { type AnyTool, type Loop, stateView } from "./loop.ts";
import type { Messages } from "./messages.ts";
import { bindTools, type ChatModel, sameItems } from "./model-source.ts";
import { narrowPrompt } from "./narrow-prompt.ts";
import { markUnchanged, requestMessages } from "./request.ts";
import { requestMedia } from "./request-media.ts";
import { runtimeFor } from "./runtime.ts";
import { bindingOptions, type ResolvedStrategy, responseStrategy } from "./structured-output.ts";
import { invokeUncut } from "./uncut.ts";
import { isAnyCommand } from "./updates.ts";

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
  /** The messages of the state, whatever middleware makes of them. */
  readonly thread: Messages;
  readonly initial: ModelRequest;
  message: AIMessage | undefined;
  readonly commands: Command[];
  strategy: ResolvedStrategy | undefined;
  extraTools: Map<string, AnyTool> | undefined;
}

type Handler = (request: ModelRequest) => Promise<AIMessage>;

export async function callModel(loop: Loop, config: TaskConfig, messages: Messages): Promise<ModelReply> {
  const initial = await firstRequest(loop, config, messages, loop.modelWrappers.length > 0);
  const call: Call = {
    loop,
    config,
    thread: messages,
    initial,
    message: undefined,
    commands: [],
    strategy: undefined,
    extraTools: undefined,
  };
  let handler: Handler = (request) => ask(call, request);
  for (const middleware of loop.modelWrappers.toReversed()) handler = wrap(call, middleware, handler);
  await handler(initial);
  throwIfClaimLost(config);
  return call;
}

const NO_SYSTEM_MESSAGE = new SystemMessage("");

async function firstRequest(
  loop: Loop,
  config: TaskConfig,
  messages: Messages,
  wrapped: boolean,
): Promise<ModelRequest> {
  const valid = requestMessages(messages);
  const systemMessage = loop.systemMessage(namesOf(loop.tools)) ?? NO_SYSTEM_MESSAGE;
  return {
    model: await loop.model.resolve(),
    // Middleware may edit the lists it is given; the agent's own must not change under it.
    messages: wrapped ? valid.slice() : valid,
    systemMessage,
    systemPrompt: wrapped ? systemMessage.text : "",
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

function toolName(tool: AnyTool): string {
  const { name, function: fn } = tool as { name?: string; function?: { name?: string } };
  return name ?? fn?.name ?? "";
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
async function ask(call: Call, request: ModelRequest): Promise<AIMessage> {
  const { loop, config } = call;
  const strategy = (
    request.responseFormat === loop.responseFormat ? loop.response : responseStrategy(request.responseFormat)
  )?.resolve(request.model);
  const settings = request.modelSettings ?? {};
  const structured = strategy && bindingOptions(strategy, settings);
  const tools = structured?.tools.length ? [...request.tools, ...structured.tools] : request.tools;
  const choice = request.toolChoice === undefined ? {} : { tool_choice: request.toolChoice };
  const bound = bindTools(request.model, tools as readonly AnyTool[], {
    ...structured?.options,
    ...settings,
    ...choice,
  });
  const messages = requestMessages(markUnchanged(call.thread, request.messages));
  if (messages.length === 0)
    throw new DeepwrightError("INVALID_INPUT", "There is no message to answer.", {
      hint: 'Pass at least one, e.g. {messages: [{role: "user", content: "Hi"}]}.',
    });
  const system = systemMessageFor(call, request);
  const sent = requestMedia(messages, request.model);
  const list = system.text === "" ? sent.slice() : [system, ...sent];
  const reply = await invokeUncut(bound, list, config);
  call.strategy = strategy;
  call.extraTools = extraTools(loop, request.tools);
  call.message = reply;
  return reply;
}

/** Sections about tools a middleware took away are left out, also when it added words of its own. */
function systemMessageFor(call: Call, request: ModelRequest): SystemMessage {
  const { initial, loop } = call;
  const given = request.systemMessage ?? NO_SYSTEM_MESSAGE;
  if (sameItems(request.tools, loop.tools)) return given;
  const narrow = loop.systemMessage(new Set(request.tools.map(toolName))) ?? NO_SYSTEM_MESSAGE;
  return narrowPrompt(initial.systemMessage, narrow, given);
}

function extraTools(loop: Loop, offered: readonly AnyTool[]): Map<string, AnyTool> | undefined {
  if (sameItems(offered, loop.tools)) return undefined;
  const extra = offered.filter((tool) => isRunnable(tool) && loop.clientTools.get(toolName(tool)) !== tool);
  return extra.length > 0 ? new Map(extra.map((tool) => [toolName(tool), tool])) : undefined;
}

export function isRunnable(tool: unknown): boolean {
  return typeof (tool as { invoke?: unknown } | undefined)?.invoke === "function";
}
