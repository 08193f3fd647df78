/** The node `model_request`: asks the model and decides the next step from its reply. */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { graphNamespace, readChannel, sendWrites, type TaskConfig, type Write } from "../../engine/engine.ts";
import { routeTurn } from "../approval/turn.ts";
import { exitNode, goTo, type Loop, MODEL_NODE, readMessages } from "../contract/loop.ts";
import { readStructured, refusedAnswer, type StructuredResult } from "../contract/structured-output.ts";
import { isCallIdTaken, isMessageIdTaken, type Messages, newId, withId } from "../messages/messages.ts";
import { outcomeOf } from "../messages/outcome.ts";
import { copyReply, normaliseReply, type ThreadFacts } from "../messages/reply.ts";
import { withFinalOutcome } from "../task/final-outcome.ts";
import { rememberTools } from "../task/offered-tools.ts";
import { StateDraft } from "../task/state-draft.ts";
import { subagentControlOf } from "../task/subagent-control.ts";
import { commandParts } from "../task/updates.ts";
import { callModel, type ModelReply } from "./model-call.ts";

/** Returns the new messages for listeners of the node. */
export async function runModelNode(loop: Loop, config: TaskConfig): Promise<{ messages: BaseMessage[] }> {
  const history = readMessages(config);
  const told = subagentControlOf(config.configurable)?.unread(graphNamespace(config), history) ?? [];
  if (told.length > 0) {
    sendWrites(config, [["messages", told], ...goTo(MODEL_NODE)]);
    return { messages: [...told] };
  }
  const reply = await callModel(loop, config, history);
  if (reply.again) {
    sendWrites(config, [...reply.task.writes(), ...goTo(MODEL_NODE)]);
    return { messages: [] };
  }
  if (reply.ends !== undefined) {
    const end: Write[] = [["outcome", reply.ends], ...goTo(exitNode(loop))];
    sendWrites(config, [...reply.task.writes(), ...withFinalOutcome(loop, config, end)]);
    return { messages: [] };
  }
  const { messages, structured } = await settle(loop, config, reply, history);
  const parts = reply.commands.map((command) => commandParts(loop, command));
  const writes: Write[] = [...reply.task.writes()];
  if (messages.length > 0) writes.push(["messages", messages]);
  // An earlier answer of this run, which a hook did not accept, does not outlive the next reply.
  if (structured !== undefined || readChannel(config, "structuredResponse") !== undefined)
    writes.push(["structuredResponse", structured]);
  if (readChannel(config, "outcome") !== undefined) writes.push(["outcome", undefined]);
  for (const part of parts) writes.push(...part.writes);
  const routes = parts.flatMap((part) => part.routes);
  const ends = parts.some((part) => part.ends);
  if (ends) writes.push(["outcome", outcomeOf(reply.message)]);
  if (routes.length === 0 && !ends)
    routes.push(...onwards(loop, config, writes, parts.length > 0 ? undefined : messages, structured));
  sendWrites(config, withFinalOutcome(loop, config, [...writes, ...routes]));
  return { messages };
}

interface Settled {
  readonly messages: BaseMessage[];
  readonly structured?: unknown;
}

async function settle(
  loop: Loop,
  config: TaskConfig,
  reply: ModelReply,
  history: Messages,
): Promise<Settled> {
  if (reply.message === undefined) return { messages: [] };
  const message = withId(newMessage(normaliseReply(reply.message, factsFor(loop, history)), history));
  if (loop.name !== undefined && message.name === undefined) {
    message.name = loop.name;
    message.lc_kwargs.name = loop.name;
  }
  rememberTools(loop, config, message, reply.extraTools);
  if (reply.strategy === undefined) return { messages: [message] };
  return withStructured(message, await readStructured(reply.strategy, message, history));
}

const storedReplies = new WeakSet<AIMessage>();

/**
 * A cache or a middleware may give one and the same message again, and some servers give every reply
 * the same id. Under an id the thread has, a reply would replace an earlier one.
 */
function newMessage(reply: AIMessage, history: Messages): AIMessage {
  const isTaken = isMessageIdTaken(history, reply.id);
  const message =
    isTaken || storedReplies.has(reply) ? copyReply(reply, isTaken ? { id: newId() } : {}) : reply;
  storedReplies.add(message);
  return message;
}

function factsFor(loop: Loop, history: Messages): ThreadFacts {
  return { isTaken: (id) => isCallIdTaken(history, id), isTool: (name) => loop.clientTools.has(name) };
}

function withStructured(message: AIMessage, result: StructuredResult): Settled {
  if (result.kind === "none") return { messages: [message] };
  if (result.kind === "answer") return { messages: [message, ...result.messages], structured: result.value };
  if (result.kind === "again") return { messages: [message, ...result.messages] };
  const known = message.invalid_tool_calls ?? [];
  const refused = [...result.answers].map(([id, error]) =>
    refusedAnswer({ id, name: message.tool_calls?.find((call) => call.id === id)?.name ?? "" }, error),
  );
  const others = known.filter((call) => !result.answers.has(call.id ?? ""));
  return { messages: [copyReply(message, { invalid_tool_calls: [...others, ...refused] })] };
}

/** Reads only the new messages, unless a command may have changed older ones. */
function onwards(
  loop: Loop,
  config: TaskConfig,
  writes: readonly Write[],
  added: BaseMessage[] | undefined,
  structured: unknown,
): Write[] {
  const hooks = loop.hooks.afterModel[0];
  if (hooks) return goTo(hooks.node);
  if (added) return routeTurn(loop, added, structured);
  const draft = new StateDraft(loop, config);
  draft.apply(writes);
  return routeTurn(loop, draft.messages(), draft.read("structuredResponse"));
}
