/**
 * Stands before a server of this machine and adds to each reply what a model thought, in the form of its provider:
 * signed, encrypted and named, as only that provider reads it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Api, apiOf } from "./provider-server-read-for-tests.ts";

/** What a request to any other provider must not hold. */
export const SECRETS: Readonly<Record<Api, RegExp>> = {
  anthropic: /anthropic-(?:signature|redacted)|toolu-thought/,
  chat: /chat-thought/,
  responses: /openai-encrypted|rs_\d|fc_\d|responses-thought/,
  gemini: /gemini-signature|gemini-thought/,
};

export interface ThinkingServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function thinkingServer(behind: string): Promise<ThinkingServer> {
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const path = incoming.url ?? "";
    const headers = { "content-type": "application/json" };
    const reply = await fetch(behind + path, { method: "POST", body, headers });
    const type = reply.headers.get("content-type") ?? "";
    const text = await reply.text();
    response.writeHead(reply.status, { "content-type": type });
    response.end(reply.ok ? withThoughts(apiOf(path), text, type.includes("event-stream")) : text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function withThoughts(api: Api, text: string, isStream: boolean): string {
  if (!isStream) return JSON.stringify(WHOLE[api](JSON.parse(text)));
  const events = text.split("\n\n").filter((event) => event !== "");
  return STREAMED[api](events)
    .map((event) => `${event}\n\n`)
    .join("");
}

const ANTHROPIC_THOUGHTS: readonly object[] = [
  { type: "thinking", thinking: "toolu-thought", signature: "anthropic-signature" },
  { type: "redacted_thinking", data: "anthropic-redacted" },
];

const reasoningItem = (id: string): object => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text: "responses-thought" }],
  encrypted_content: "openai-encrypted",
});

const withReasoning = (body: any): any => ({
  ...body,
  output: [reasoningItem(`rs_${body.id.slice("resp_".length)}`), ...body.output],
});

const GEMINI_THOUGHT = { text: "gemini-thought", thought: true };

function withGeminiParts(body: any, first: readonly object[]): any {
  const [candidate] = body.candidates;
  const parts = candidate.content.parts.map((part: any) =>
    part.functionCall ? { ...part, thoughtSignature: "gemini-signature" } : part,
  );
  const content = { ...candidate.content, parts: [...first, ...parts] };
  return { ...body, candidates: [{ ...candidate, content }] };
}

const WHOLE: Readonly<Record<Api, (body: any) => any>> = {
  anthropic: (body) => ({ ...body, content: [...ANTHROPIC_THOUGHTS, ...body.content] }),
  chat: (body) => {
    const [choice] = body.choices;
    const message = { ...choice.message, reasoning_content: "chat-thought" };
    return { ...body, choices: [{ ...choice, message }] };
  },
  responses: withReasoning,
  gemini: (body) => withGeminiParts(body, [GEMINI_THOUGHT]),
};

const named = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}`;
const readData = (event: string): any => JSON.parse(event.slice(event.indexOf("data: ") + "data: ".length));

/** Behind the first event, which opens the reply. */
function behindFirst([first = "", ...rest]: readonly string[], added: readonly string[]): readonly string[] {
  return [first, ...added, ...rest];
}

function anthropicBlock(index: number, start: object, deltas: readonly object[]): readonly string[] {
  return [
    named("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => named("content_block_delta", { index, delta })),
    named("content_block_stop", { index }),
  ];
}

const STREAMED: Readonly<Record<Api, (events: readonly string[]) => readonly string[]>> = {
  anthropic: (events) =>
    behindFirst(events, [
      ...anthropicBlock(90, { type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: "toolu-thought" },
        { type: "signature_delta", signature: "anthropic-signature" },
      ]),
      ...anthropicBlock(91, { type: "redacted_thinking", data: "anthropic-redacted" }, []),
    ]),
  chat: (events) => {
    const chunk = readData(events[0] ?? "");
    const delta = { reasoning_content: "chat-thought" };
    const thought = { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] };
    return behindFirst(events, [`data: ${JSON.stringify(thought)}`]);
  },
  responses: (events) => {
    const { response } = readData(events[0] ?? "");
    const item_id = `rs_${response.id.slice("resp_".length)}`;
    const place = { output_index: 90, item_id, summary_index: 0 };
    const part = { type: "summary_text", text: "" };
    const item = reasoningItem(item_id);
    const last = events.at(-1) ?? "";
    const completed = named("response.completed", { response: withReasoning(readData(last).response) });
    return behindFirst(
      [...events.slice(0, -1), completed],
      [
        named("response.output_item.added", { output_index: 90, item: { ...item, summary: [] } }),
        named("response.reasoning_summary_part.added", { ...place, part }),
        named("response.reasoning_summary_text.delta", { ...place, delta: "responses-thought" }),
        named("response.output_item.done", { output_index: 90, item }),
      ],
    );
  },
  gemini: (events) =>
    events.map((event, index) => {
      const body = withGeminiParts(readData(event), index === 0 ? [GEMINI_THOUGHT] : []);
      return `data: ${JSON.stringify(body)}`;
    }),
};
