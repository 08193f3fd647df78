/** Messages as plain data, and how objects of LangChain become that. */
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
  /** Text, or content blocks. */
  content: z.unknown(),
  name: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().nullish(),
  status: z.string().nullish(),
  usage_metadata: z.record(z.string(), z.unknown()).nullish(),
});
export type Message = z.infer<typeof message>;

interface MessageObject {
  getType(): string;
  toDict(): { readonly type: string; readonly data: object };
}

function isMessageObject(value: unknown): value is MessageObject {
  if (typeof value !== "object" || value === null) return false;
  const { getType, toDict } = value as Partial<MessageObject>;
  return typeof getType === "function" && typeof toDict === "function";
}

/**
 * JSON as clients read it: message objects become `{type, id, content, …}` wherever they stand. What only looks
 * like one of LangChain's serialized objects stays what it is. Bytes are base64, errors their name and message,
 * `undefined` is `null`. Throws for what contains itself.
 */
export function wireJson(value: unknown): string {
  // A replacer sees what `toJSON` made of an object; the object itself is still in its holder.
  return (
    JSON.stringify(value, function (this: Record<string, unknown>, name: string, made: unknown) {
      const held = this[name];
      if (isMessageObject(held)) {
        const { type, data } = held.toDict();
        return { ...data, type };
      }
      if (held instanceof Uint8Array) return base64(held);
      if (held instanceof Error) return { error: held.name, message: held.message };
      return typeof made === "bigint" ? String(made) : made;
    }) ?? "null"
  );
}

/** In steps, since a call takes only so many arguments. */
function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let from = 0; from < bytes.length; from += 8192)
    binary += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return btoa(binary);
}
