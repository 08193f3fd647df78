/**
 * A model server that does what the last message says, a line a turn: `say WORDS`, `hold WORDS` (waits in the middle of the
 * answer), or `call TOOL JSON`, several with ` && ` between them. It keeps nothing, so that a thread can go on after a restart. For tests only.
 */
import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterThisFile } from "../../../../scripts/test-cleanups.mjs";

interface WireMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null;
}

export interface ModelRequest {
  readonly messages: readonly WireMessage[];
  readonly reasoning_effort?: string;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface ScriptModel {
  /** With `/v1`. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Requests that a provider would refuse: a call without its result. */
  readonly problems: readonly string[];
  /** Lets answers that are held, now and from now on, come to their end. */
  release(): void;
}

/** Closed with the file. */
export async function scriptModel(): Promise<ScriptModel> {
  const requests: ModelRequest[] = [];
  const problems: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece;
    if (request.method !== "POST") return void response.end(JSON.stringify({ data: [] }));
    const body = JSON.parse(text) as ModelRequest;
    requests.push(body);
    problems.push(...problemsOf(body));
    await answered(body, response, released);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisFile(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    problems,
    release,
  };
}

async function answered(
  body: ModelRequest,
  response: ServerResponse,
  released: Promise<void>,
): Promise<void> {
  const id = randomUUID();
  const write = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id, object: "chat.completion.chunk", created: 1, model: "scripted", choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const step = stepOf(body.messages);
  write({ role: "assistant", content: "" });
  const [act, rest = ""] = [step.slice(0, step.indexOf(" ")), step.slice(step.indexOf(" ") + 1)];
  if (act === "call") {
    const tool_calls = step.split(" && ").map((one, index) => callOf(one, index));
    write({ tool_calls });
    write({}, "tool_calls");
  } else {
    for (const word of rest.split(/(?<= )/)) write({ content: word });
    if (act === "hold") await released;
    write({}, "stop");
  }
  const usage = { prompt_tokens: 1_000, completion_tokens: 7, total_tokens: 1_007 };
  response.write(
    `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model: "scripted", choices: [], usage })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}

function problemsOf({ messages }: ModelRequest): readonly string[] {
  const asked = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answered = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
  return JSON.stringify(asked) === JSON.stringify(answered) ? [] : [JSON.stringify(messages.slice(-4))];
}

function callOf(step: string, index: number): object {
  const [, name = "", args = "{}"] = /^call (\S+) (.*)$/s.exec(step) ?? [];
  return { index, id: `call_${randomUUID()}`, type: "function", function: { name, arguments: args } };
}

/** The line for this turn; `say done` after the last one. */
function stepOf(messages: readonly WireMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const turns = messages.slice(last + 1).filter(({ role }) => role === "assistant").length;
  const lines = textOf(messages[last])
    .split("\n")
    .filter((line) => /^(say|hold|call) /.test(line));
  return lines[turns] ?? "say done";
}

function textOf(message: WireMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("\n");
}
