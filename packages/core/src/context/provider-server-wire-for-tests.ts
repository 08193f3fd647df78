/** Answers and refusals in the form of each API, whole and streamed. */
import type { Counted } from "./provider-server-cache-for-tests.ts";
import type { Api } from "./provider-server-read-for-tests.ts";

/** What the model says: words, calls, or a status that says no. */
export interface ProviderAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
  readonly status?: number;
  /** Go with `status`. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * "reset": the connection ends without an answer. "silent": no answer ever. "stalled", "broken": half of the reply
   * comes, and then nothing, or the end of the connection. "slow": it comes in a dozen pieces, 150 ms apart.
   */
  readonly fate?: "reset" | "silent" | "stalled" | "broken" | "slow";
  /** The body in place of the sound one, made from its pieces; a whole reply is one piece. The status is 200. */
  readonly raw?: (pieces: readonly string[]) => string | Uint8Array;
  /** Goes with `raw`. */
  readonly contentType?: string;
}

/** An answer with what the server adds. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: Record<string, unknown>;
  }[];
  readonly number: number;
  readonly counted: Counted;
  readonly output: number;
}

export function errorBody(api: Api, message: string, code: string | null = null): object {
  if (api === "anthropic") return { type: "error", error: { type: "invalid_request_error", message } };
  if (api === "gemini") return { error: { code: 400, message, status: "INVALID_ARGUMENT" } };
  const param = api === "chat" ? "messages" : "input";
  return { error: { message, type: "invalid_request_error", param, code } };
}

export function overflowBody(api: Api, tokens: number, window: number): object {
  const words: Readonly<Record<Api, string>> = {
    anthropic: `prompt is too long: ${tokens} tokens > ${window} maximum`,
    chat: `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    responses: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    gemini: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
  };
  return errorBody(api, words[api], "context_length_exceeded");
}

interface Wire {
  whole(reply: Reply): object;
  streamed(reply: Reply): readonly string[];
}

const event = (name: string, value: object): string => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** Words come in two pieces, so that a reader that forgets one is found out. */
function pieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}

function anthropicUsage({ counted: { total, read, written }, output }: Reply): object {
  return {
    input_tokens: total - read - written,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: output,
  };
}

const anthropic: Wire = {
  whole: (reply) => ({
    ...anthropicMessage(reply),
    content: [
      ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
      ...reply.calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
    ],
    stop_reason: reply.calls.length > 0 ? "tool_use" : "end_turn",
  }),
  streamed: (reply) => {
    const typed = (type: string, rest: object = {}): string => event(type, { type, ...rest });
    const block = (index: number, content_block: object, deltas: readonly object[]): readonly string[] => [
      typed("content_block_start", { index, content_block }),
      ...deltas.map((delta) => typed("content_block_delta", { index, delta })),
      typed("content_block_stop", { index }),
    ];
    const words = pieces(reply.text).map((text) => ({ type: "text_delta", text }));
    const first = words.length > 0 ? 1 : 0;
    const stop_reason = reply.calls.length > 0 ? "tool_use" : "end_turn";
    return [
      typed("message_start", { message: { ...anthropicMessage(reply), content: [], stop_reason: null } }),
      ...(first > 0 ? block(0, { type: "text", text: "" }, words) : []),
      ...reply.calls.flatMap(({ id, name, args }, index) =>
        block(first + index, { type: "tool_use", id, name, input: {} }, [
          { type: "input_json_delta", partial_json: JSON.stringify(args) },
        ]),
      ),
      typed("message_delta", {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: reply.output },
      }),
      typed("message_stop"),
    ];
  },
};

function anthropicMessage(reply: Reply): object {
  return {
    id: `msg_${reply.number}`,
    type: "message",
    role: "assistant",
    model: "claude",
    stop_sequence: null,
    usage: anthropicUsage(reply),
  };
}

function chatUsage({ counted: { total, read }, output }: Reply): object {
  return {
    prompt_tokens: total,
    completion_tokens: output,
    total_tokens: total + output,
    prompt_tokens_details: { cached_tokens: read },
  };
}

const chatCalls = (reply: Reply): readonly object[] =>
  reply.calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));

const chat: Wire = {
  whole: (reply) => ({
    id: `chatcmpl-${reply.number}`,
    object: "chat.completion",
    created: 1,
    model: "gpt",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: reply.text === "" ? null : reply.text,
          ...(reply.calls.length > 0 ? { tool_calls: chatCalls(reply) } : {}),
        },
        finish_reason: reply.calls.length > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: chatUsage(reply),
  }),
  streamed: (reply) => {
    const head = {
      id: `chatcmpl-${reply.number}`,
      object: "chat.completion.chunk",
      created: 1,
      model: "gpt",
    };
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      data({ ...head, choices: [{ index: 0, delta, finish_reason }] });
    return [
      chunk({ role: "assistant", content: "" }),
      ...pieces(reply.text).map((content) => chunk({ content })),
      ...chatCalls(reply).map((call) => chunk({ tool_calls: [call] })),
      chunk({}, reply.calls.length > 0 ? "tool_calls" : "stop"),
      data({ ...head, choices: [], usage: chatUsage(reply) }),
      "data: [DONE]\n\n",
    ];
  },
};

interface OutputItem {
  readonly id: string;
  readonly type: string;
}

function responsesItems(reply: Reply): readonly OutputItem[] {
  const content = [{ type: "output_text", text: reply.text, annotations: [] }];
  const id = `msg_${reply.number}`;
  const message = { type: "message", id, role: "assistant", status: "completed", content };
  const calls = reply.calls.map((call, index) => ({
    type: "function_call",
    id: `fc_${reply.number}_${index}`,
    call_id: call.id,
    name: call.name,
    status: "completed",
    arguments: JSON.stringify(call.args),
  }));
  return [...(reply.text === "" ? [] : [message]), ...calls];
}

function responsesBody(reply: Reply): object {
  const { total, read } = reply.counted;
  return {
    id: `resp_${reply.number}`,
    object: "response",
    created_at: 1,
    model: "gpt",
    error: null,
    incomplete_details: null,
    tools: [],
    status: "completed",
    output: responsesItems(reply),
    usage: {
      input_tokens: total,
      input_tokens_details: { cached_tokens: read },
      output_tokens: reply.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: total + reply.output,
    },
  };
}

const responses: Wire = {
  whole: responsesBody,
  streamed: (reply) => {
    let sequence_number = 0;
    const typed = (type: string, rest: object): string =>
      event(type, { type, sequence_number: sequence_number++, ...rest });
    const started = { ...responsesBody(reply), status: "in_progress", output: [], usage: null };
    return [
      typed("response.created", { response: started }),
      ...responsesItems(reply).flatMap((item, output_index) => {
        const place = { item_id: item.id, output_index };
        const isMessage = item.type === "message";
        const start = isMessage ? { ...item, content: [] } : { ...item, arguments: "" };
        const said = isMessage ? reply.text : (item as unknown as { arguments: string }).arguments;
        const delta = isMessage ? "response.output_text.delta" : "response.function_call_arguments.delta";
        return [
          typed("response.output_item.added", { output_index, item: start }),
          ...pieces(said).map((piece) => typed(delta, { ...place, content_index: 0, delta: piece })),
          typed("response.output_item.done", { output_index, item }),
        ];
      }),
      typed("response.completed", { response: responsesBody(reply) }),
    ];
  },
};

function geminiBody(reply: Reply, parts: readonly object[], finishReason?: string): object {
  const { total, read } = reply.counted;
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata: {
      promptTokenCount: total,
      cachedContentTokenCount: read,
      candidatesTokenCount: reply.output,
      totalTokenCount: total + reply.output,
    },
  };
}

const geminiCalls = (reply: Reply): readonly object[] =>
  reply.calls.map(({ name, args }) => ({ functionCall: { name, args } }));

const gemini: Wire = {
  whole: (reply) =>
    geminiBody(reply, [...(reply.text === "" ? [] : [{ text: reply.text }]), ...geminiCalls(reply)], "STOP"),
  streamed: (reply) => [
    ...pieces(reply.text).map((text) => data(geminiBody(reply, [{ text }]))),
    ...geminiCalls(reply).map((part) => data(geminiBody(reply, [part]))),
    data(geminiBody(reply, [{ text: "" }], "STOP")),
  ],
};

export const WIRES: Readonly<Record<Api, Wire>> = { anthropic, chat, responses, gemini };
