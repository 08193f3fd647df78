/** Schemas for the events of a streamed reply, by API. Unknown kinds of events are left to the client. */
import { z } from "zod";
import { StreamedError, UnreadableReply } from "./unreadable-reply.ts";

/** One for each reply. */
export interface EventCheck {
  /** The event for the client. Throws for an event that cannot be read. */
  event(event: unknown): unknown;
  /** Whether the reply came to its end. */
  isEnded(): boolean;
}

const text = z.string();
const any = z.object({});
const missing = z.undefined().or(z.null());

function checked(schema: z.ZodType, event: unknown): void {
  const { error } = schema.safeParse(event);
  if (error === undefined) return;
  const [issue] = error.issues;
  throw new UnreadableReply(`${issue?.path.join(".") || "an event"}: ${issue?.message}`);
}

const typed = z.looseObject({ type: text });
type Typed = z.infer<typeof typed>;

const ANTHROPIC: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ["message_start", z.object({ message: z.object({ usage: any }) })],
  [
    "content_block_start",
    z.object({
      index: z.number(),
      content_block: z
        .object({ type: z.literal("tool_use"), id: text.nullish(), name: text.nullish() })
        .or(z.object({ type: text.refine((type) => type !== "tool_use") })),
    }),
  ],
  [
    "content_block_delta",
    z.object({
      index: z.number(),
      delta: z.object({
        type: text,
        text: text.nullish(),
        partial_json: text.nullish(),
        thinking: text.nullish(),
      }),
    }),
  ],
  ["message_delta", z.object({ usage: any, delta: z.object({ stop_reason: text.nullish() }) })],
]);

export function anthropicCheck(): EventCheck {
  const blocks = new Map<unknown, unknown>();
  let isEnded = false;
  return {
    event: (event) => {
      checked(typed, event);
      const { type, index, content_block: block, delta } = event as Typed;
      const schema = ANTHROPIC.get(type);
      if (schema) checked(schema, event);
      if (type === "content_block_start") blocks.set(index, (block as Typed).type);
      if (
        type === "content_block_delta" &&
        (delta as Typed).type === "text_delta" &&
        blocks.get(index) !== "text"
      )
        throw new UnreadableReply("text for a block that is not text");
      isEnded ||= type === "message_delta" && (delta as { stop_reason?: unknown }).stop_reason != null;
      return event;
    },
    isEnded: () => isEnded,
  };
}

const chatDelta = z.looseObject({
  // Lists are passed over by the client.
  content: text.or(z.array(z.unknown())).nullish(),
  tool_calls: z
    .array(
      z.object({
        index: z.number().nullish(),
        id: text.nullish(),
        function: z.object({ name: text.nullish(), arguments: text.nullish() }).nullish(),
      }),
    )
    .nullish(),
});
const chatChoice = z.looseObject({
  delta: chatDelta.nullish(),
  finish_reason: text.nullish(),
});
const chatChunk = z
  .object({ choices: z.array(chatChoice) })
  .or(z.object({ choices: missing.optional(), usage: any }));

/** The reply is the assistant's: servers leave the role out, and the client then loses the calls. */
export function chatCheck(): EventCheck {
  let isEnded = false;
  return {
    event: (event) => {
      checked(chatChunk, event);
      const { choices, usage, ...rest } = event as {
        choices?: z.infer<typeof chatChoice>[];
        usage?: unknown;
      };
      isEnded ||= usage != null || (choices ?? []).some(({ finish_reason: reason }) => reason != null);
      const spoken = choices?.map((choice) =>
        choice.delta ? { ...choice, delta: { ...choice.delta, role: "assistant" } } : choice,
      );
      return { ...rest, usage, choices: spoken ?? [] };
    },
    isEnded: () => isEnded,
  };
}

const item = z
  .object({ type: z.literal("function_call"), name: text, call_id: text })
  .or(z.object({ type: text.refine((type) => type !== "function_call") }));
const whole = z.object({ response: z.object({ output: z.array(item) }) });
const delta = z.object({ delta: text });

const RESPONSES: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ["response.created", z.object({ response: any })],
  ["response.output_item.added", z.object({ output_index: z.number(), item })],
  ["response.output_item.done", z.object({ item })],
  ["response.output_text.delta", delta],
  ["response.function_call_arguments.delta", delta],
  ["response.reasoning_summary_text.delta", delta],
  ["response.completed", whole],
  ["response.incomplete", whole],
]);

export function responsesCheck(): EventCheck {
  let isEnded = false;
  return {
    event: (event) => {
      checked(typed, event);
      const { type, response } = event as Typed;
      if (type === "error") throw new StreamedError(event);
      if (type === "response.failed")
        throw new StreamedError((response as { error?: unknown } | null)?.error);
      const schema = RESPONSES.get(type);
      if (schema) checked(schema, event);
      isEnded ||= type === "response.completed" || type === "response.incomplete";
      return event;
    },
    isEnded: () => isEnded,
  };
}

const PARTS = [
  "text",
  "functionCall",
  "functionResponse",
  "inlineData",
  "fileData",
  "executableCode",
  "codeExecutionResult",
] as const;
const geminiPart = z.looseObject({
  text: text.nullish(),
  functionCall: z.object({ name: text.nullish(), args: z.looseObject({}).nullish() }).optional(),
});
const geminiCandidate = z.looseObject({
  content: z.looseObject({ parts: z.array(geminiPart).nullish() }).nullish(),
  finishReason: text.nullish(),
});
const geminiEvent = z.looseObject({ candidates: z.array(geminiCandidate).nullish() });

/** Parts of other kinds are left out: the client takes them and cannot send them back. */
export function geminiCheck(): EventCheck {
  let isEnded = false;
  return {
    event: (event) => {
      checked(geminiEvent, event);
      const { candidates, error, promptFeedback } = event as z.infer<typeof geminiEvent>;
      if (error !== undefined) throw new StreamedError(error);
      isEnded ||= (promptFeedback as { blockReason?: unknown } | undefined)?.blockReason !== undefined;
      for (const { content, finishReason } of candidates ?? []) {
        isEnded ||= finishReason != null;
        if (content?.parts)
          content.parts = content.parts.filter((part) => PARTS.some((name) => part[name] !== undefined));
      }
      return event;
    },
    isEnded: () => isEnded,
  };
}
