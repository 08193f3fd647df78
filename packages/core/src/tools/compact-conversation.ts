import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { z } from "zod";
import {
  COMPACT_TOOL,
  COMPACTION_REQUESTED,
  NOTHING_TO_COMPACT,
} from "../context/compaction/compact-request.ts";
import { COMPACTION, type Compaction } from "../context/compaction/compaction-state.ts";
import { type BuiltInTool, builtInTool, succeededCall, type ToolCallRuntime } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

export const COMPACT_CONVERSATION_DESCRIPTION =
  "Replace the earlier part of this conversation by a summary, to make room. " +
  "Use it between tasks, when the details so far are no longer needed word for word.";

export interface CompactConversationOptions {
  /** Replaces our words for the model. */
  readonly description?: string;
}

export function createCompactConversationTool(options: CompactConversationOptions = {}): BuiltInTool {
  return builtInTool({
    effect: "reads",
    name: COMPACT_TOOL,
    description: options.description ?? COMPACT_CONVERSATION_DESCRIPTION,
    schema: lenientObject({}) as z.ZodType<Record<string, unknown>>,
    run: (_args, runtime) =>
      succeededCall(COMPACT_TOOL, runtime, hasEnough(runtime) ? COMPACTION_REQUESTED : NOTHING_TO_COMPACT),
  });
}

/** Messages before this turn, without which a summary would save nothing. */
const ENOUGH = 3;

function hasEnough({ state }: ToolCallRuntime): boolean {
  const messages = state?.messages;
  if (!Array.isArray(messages)) return true;
  const { first } = (state?.[COMPACTION] ?? {}) as Partial<Compaction>;
  const start = first === undefined ? 0 : messages.findIndex((message: BaseMessage) => message.id === first);
  const turn = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return turn - Math.max(0, start) >= ENOUGH;
}
