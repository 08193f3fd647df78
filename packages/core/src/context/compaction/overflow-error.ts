/** The error for a request that cannot be made small enough. It names the parts that are too large. */
import type { BaseMessage, SystemMessage } from "@langchain/core/messages";
import { SystemMessage as SystemMessageClass } from "@langchain/core/messages";
import { DeepwrightError } from "../../errors.ts";
import type { RequestView } from "../../loop/contract/stages.ts";
import type { Messages } from "../../loop/messages/messages.ts";
import { messageTokens, requestTokens } from "../tokens/token-meter.ts";

const LARGEST = 3;

export interface OverflowFacts {
  readonly view: RequestView;
  readonly messages: Messages;
  readonly window: number | undefined;
  readonly cause?: unknown;
}

export function overflowError({ view, messages, window, cause }: OverflowFacts): DeepwrightError {
  const blocks = [
    `system prompt ${systemTokens(view.system, view)}`,
    `${view.tools.length} tools ${toolsTokens(view)}${largestTools(view)}`,
    ...largestMessages(messages, view),
  ];
  const room = window === undefined ? "what its provider takes" : `its window of ${window} tokens`;
  return new DeepwrightError(
    "CONTEXT_OVERFLOW",
    `The request to the model does not fit into ${room}, and what is left cannot be shortened. Tokens, about: ${blocks.join("; ")}.`,
    {
      hint: "Use a model with a larger window, fewer tools, or a shorter prompt or message.",
      ...(cause !== undefined && { cause }),
    },
  );
}

const NO_SYSTEM = new SystemMessageClass("");

function systemTokens(system: SystemMessage, { model }: RequestView): number {
  return requestTokens({ system, tools: [], messages: [], model }) - nothing({ model });
}

function nothing({ model }: Pick<RequestView, "model">): number {
  return requestTokens({ system: NO_SYSTEM, tools: [], messages: [], model });
}

function toolsTokens({ tools, model }: Pick<RequestView, "tools" | "model">): number {
  return requestTokens({ system: NO_SYSTEM, tools, messages: [], model }) - nothing({ model });
}

function largestTools({ tools, model }: RequestView): string {
  const sized = tools
    .map((tool) => ({ name: nameOf(tool), tokens: toolsTokens({ tools: [tool], model }) }))
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, LARGEST);
  return sized.length === 0 ? "" : ` (${sized.map(({ name, tokens }) => `${name} ${tokens}`).join(", ")})`;
}

function nameOf(tool: unknown): string {
  const { name, function: inner } = tool as { name?: string; function?: { name?: string } };
  return name ?? inner?.name ?? "unnamed";
}

function largestMessages(messages: Messages, { model }: RequestView): string[] {
  return messages
    .map((message) => ({ message, tokens: messageTokens(message, model) }))
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, LARGEST)
    .map(({ message, tokens }) => `${roleOf(message)} ${tokens}`);
}

function roleOf(message: BaseMessage): string {
  const name = message.type === "tool" ? ` of ${message.name ?? "a tool"}` : "";
  const role = { human: "message of the user", ai: "message of the model", tool: "result" }[
    message.type as "human"
  ];
  return `${role ?? message.type}${name} ${message.id ?? ""}`.trim();
}
