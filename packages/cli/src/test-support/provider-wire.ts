/** Answers in the form each provider streams them. For tests only. */
import type { Answer } from "./provider-server.ts";

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** Anthropic's Messages: `message_start`, one block each for text and call, `message_stop`. */
export function anthropicEvents({ text = [], call, stopReason }: Answer): readonly string[] {
  const typed = (type: string, rest: object = {}): string => event(type, { type, ...rest });
  const usage = { input_tokens: 11, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage };
  const words = text.map((piece) =>
    typed("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } }),
  );
  const textBlock = [
    typed("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words,
    typed("content_block_stop", { index: 0 }),
  ];
  const index = words.length > 0 ? 1 : 0;
  const callBlock = call && [
    typed("content_block_start", {
      index,
      content_block: { type: "tool_use", id: "toolu_1", name: call.name, input: {} },
    }),
    typed("content_block_delta", {
      index,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(call.args) },
    }),
    typed("content_block_stop", { index }),
  ];
  const stop_reason = stopReason ?? (call ? "tool_use" : "end_turn");
  return [
    typed("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } }),
    ...(words.length > 0 ? textBlock : []),
    ...(callBlock ?? []),
    typed("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } }),
    typed("message_stop"),
  ];
}

/** OpenAI's chat completions. */
export function openaiChunks({ id = "chatcmpl-1", text = [], call, stopReason }: Answer): readonly string[] {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    data({
      id,
      object: "chat.completion.chunk",
      created: 1,
      model: "gpt",
      choices: [{ index: 0, delta, finish_reason }],
    });
  const calls = call && [
    chunk({
      tool_calls: [
        { index: 0, id: "call_1", type: "function", function: { name: call.name, arguments: "" } },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(call.args) } }] }),
  ];
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return [
    chunk({ role: "assistant", content: "" }),
    ...text.map((content) => chunk({ content })),
    ...(calls ?? []),
    chunk({}, stopReason ?? (call ? "tool_calls" : "stop")),
    data({ id, object: "chat.completion.chunk", created: 1, model: "gpt", choices: [], usage }),
    "data: [DONE]\n\n",
  ];
}

/** OpenAI's Responses: an item for the words, an item for the call. */
export function responsesEvents({ text = [], call }: Answer): readonly string[] {
  let sequence_number = 0;
  const typed = (type: string, rest: object): string =>
    event(type, { type, sequence_number: sequence_number++, ...rest });
  const response = { id: "resp_1", object: "response", created_at: 1, model: "gpt", error: null, tools: [] };
  const items = [...(text.length > 0 ? [messageItem(text)] : []), ...(call ? [callItem(call)] : [])];
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  return [
    typed("response.created", { response: { ...response, status: "in_progress", output: [] } }),
    ...items.flatMap(({ item, start, deltas }, output_index) => [
      typed("response.output_item.added", { output_index, item: start }),
      ...deltas.map(({ type, ...rest }) => typed(type, { ...rest, item_id: item.id, output_index })),
      typed("response.output_item.done", { output_index, item }),
    ]),
    typed("response.completed", {
      response: { ...response, status: "completed", output: items.map(({ item }) => item), usage },
    }),
  ];
}

interface ResponsesItem {
  readonly item: { readonly id: string };
  /** The item before anything of it was said. */
  readonly start: object;
  readonly deltas: readonly { readonly type: string; readonly delta: string }[];
}

function messageItem(text: readonly string[]): ResponsesItem {
  const content = [{ type: "output_text", text: text.join(""), annotations: [] }];
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
  const deltas = text.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta }));
  return { item, start: { ...item, content: [] }, deltas };
}

function callItem({ name, args }: NonNullable<Answer["call"]>): ResponsesItem {
  const text = JSON.stringify(args);
  const item = {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name,
    status: "completed",
    arguments: text,
  };
  const deltas = [{ type: "response.function_call_arguments.delta", delta: text }];
  return { item, start: { ...item, arguments: "" }, deltas };
}

/** Google's streamGenerateContent with `alt=sse`. */
export function googleEvents({ text = [], call, stopReason }: Answer): readonly string[] {
  const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 };
  const piece = (part: object, finishReason?: string): string =>
    data({
      candidates: [
        { index: 0, content: { role: "model", parts: [part] }, ...(finishReason ? { finishReason } : {}) },
      ],
      usageMetadata,
    });
  return [
    ...text.map((words) => piece({ text: words })),
    ...(call ? [piece({ functionCall: { name: call.name, args: call.args } })] : []),
    piece({ text: "" }, stopReason ?? "STOP"),
  ];
}

/** Ollama's chat: a line of JSON each. */
export function ollamaLines({ text = [], call }: Answer): readonly string[] {
  const line = (message: object, rest: object = { done: false }): string =>
    `${JSON.stringify({ model: "local", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content: "", ...message }, ...rest })}\n`;
  const tool_calls = call && [{ function: { name: call.name, arguments: call.args } }];
  return [
    ...text.map((content) => line({ content })),
    ...(tool_calls ? [line({ tool_calls })] : []),
    line({}, { done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 7 }),
  ];
}
