/** Messages as plain data. */
import { z } from "zod";

export const toolCall = z.looseObject({
  id: z.string().nullish(),
  name: z.string(),
  args: z.unknown(),
});
export type ToolCall = z.infer<typeof toolCall>;

/** `type` is `human`, `ai`, `tool`, `system`, `remove`; pieces of a stream may say `AIMessageChunk`. */
export const message = z.looseObject({
  type: z.string(),
  id: z.string().nullish(),
  content: z.unknown().describe("Text, or content blocks."),
  name: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().nullish(),
  status: z.string().nullish(),
  usage_metadata: z.record(z.string(), z.unknown()).nullish(),
});
export type Message = z.infer<typeof message>;
