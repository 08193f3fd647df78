/** Calls with other arguments, wherever a message repeats them. */
import type { AIMessage } from "@langchain/core/messages";
import { copyReply } from "../../loop/messages/reply.ts";

type Edits = ReadonlyMap<string, Record<string, unknown>>;

/**
 * The same message, the given calls having other arguments: also in content blocks, and in the raw reply of the
 * provider that some clients send again.
 */
export function withArgumentsEverywhere(message: AIMessage, edits: Edits): AIMessage {
  const { content, additional_kwargs, response_metadata } = message;
  const raw: unknown = additional_kwargs?.tool_calls;
  const output: unknown = response_metadata?.output;
  const changes = {
    tool_calls: (message.tool_calls ?? []).map((call) => {
      const args = edits.get(call.id ?? "");
      return args === undefined ? call : { ...call, args };
    }),
    ...(typeof content !== "string" && { content: content.map((block) => inBlock(block, edits)) }),
    ...(Array.isArray(raw) && {
      additional_kwargs: { ...additional_kwargs, tool_calls: raw.map((call) => inRawCall(call, edits)) },
    }),
    ...(Array.isArray(output) && {
      response_metadata: { ...response_metadata, output: output.map((item) => inRawCall(item, edits)) },
    }),
  };
  return copyReply(message, changes as Partial<AIMessage>);
}

interface CallBlock {
  readonly id?: string;
  readonly input?: unknown;
  readonly args?: unknown;
}

function inBlock<Block extends object>(block: Block, edits: Edits): Block {
  const call = block as CallBlock;
  const args = edits.get(call.id ?? "");
  if (args === undefined) return block;
  const key = "input" in block ? "input" : "args";
  return { ...block, [key]: typeof call[key] === "string" ? JSON.stringify(args) : args };
}

interface RawCall {
  readonly id?: string;
  readonly call_id?: string;
  readonly function?: object;
}

function inRawCall(call: RawCall, edits: Edits): RawCall {
  const args = edits.get(call?.call_id ?? call?.id ?? "");
  if (args === undefined) return call;
  const text = { arguments: JSON.stringify(args) };
  return call.function ? { ...call, function: { ...call.function, ...text } } : { ...call, ...text };
}
