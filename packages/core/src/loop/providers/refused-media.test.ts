/** Models of unknown abilities, with LangChain's own clients against a server of this machine. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOllama } from "@langchain/ollama";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { png } from "../../context/media/media-kinds-for-tests.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import type { ChatModel } from "./model-source.ts";

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

const PDF = Buffer.from("%PDF-1.4\n%%EOF");

async function files(): Promise<MapBackend> {
  const backend = new MapBackend();
  await backend.uploadFiles([
    ["/a.png", png(2, 2)],
    ["/b.pdf", PDF],
  ]);
  return backend;
}

const read = (path: string) => ({ name: "read_file", arguments: { file_path: path } });

type Refuse = (body: string) => { status: number; message: string } | undefined;

/** Speaks chat completions and Ollama's protocol: reads a picture, then a PDF, then is done. */
async function server(refuse: Refuse): Promise<{ url: string; bodies: string[]; statuses: number[] }> {
  const bodies: string[] = [];
  const statuses: number[] = [];
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const refusal = refuse(body);
    bodies.push(body);
    statuses.push(refusal?.status ?? 200);
    response.writeHead(refusal?.status ?? 200, { "content-type": "application/json" });
    if (refusal !== undefined) return response.end(JSON.stringify({ error: { message: refusal.message } }));
    const results = body.split('"role":"tool"').length - 1;
    const calls = [read("/a.png"), read("/b.pdf")].slice(results, results + 1);
    response.end(JSON.stringify(request.url?.includes("/api/chat") ? ollamaReply(calls) : chatReply(calls)));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closers.push(() => http.close());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, bodies, statuses };
}

type Call = ReturnType<typeof read>;

function chatReply(calls: readonly Call[]): object {
  const tool_calls = calls.map(({ name, arguments: args }) => ({
    id: `call_${args.file_path}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = { role: "assistant", content: "Done.", ...(calls.length > 0 && { tool_calls }) };
  return { id: "1", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] };
}

function ollamaReply(calls: readonly Call[]): object {
  const message = {
    role: "assistant",
    content: calls.length > 0 ? "" : "Done.",
    tool_calls: calls.map((call) => ({ function: call })),
  };
  return { model: "m", created_at: "2026-01-01T00:00:00Z", message, done: true, done_reason: "stop" };
}

function compatible(url: string): ChatModel {
  const configuration = { baseURL: `${url}/v1` };
  return new ChatOpenAI({ model: "glm-9", apiKey: "k", configuration }) as unknown as ChatModel;
}

async function look(model: ChatModel): Promise<string | undefined> {
  const agent = createDeepAgent({ model, backend: await files() });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("look")] });
  return messages.at(-1)?.text;
}

const LEFT_OUT = /left out, this model cannot take it/g;

describe("a model nobody knows", () => {
  test("is sent pictures and PDFs that a tool has read", async () => {
    const { url, bodies } = await server(() => undefined);
    expect(await look(compatible(url))).toBe("Done.");
    expect(bodies.at(-1)).toContain("data:image/png;base64,");
    expect(bodies.at(-1)).toContain("data:application/pdf;base64,");
  });

  test.each<[number, string]>([
    [400, "Invalid content type. image_url is only supported by certain models."],
    [422, "messages[4]: unknown variant `image_url`, expected `text`"],
    [404, "No endpoints found that support image input"],
    [500, "image input is not supported - hint: you may need to provide the mmproj"],
    [400, "messages.4.content must be a string"],
  ])("that refuses pictures (%i, %s) is asked with words, once and from then on", async (status, message) => {
    const { url, statuses, bodies } = await server((body) =>
      body.includes("data:image/png") ? { status, message } : undefined,
    );
    const model = compatible(url);
    expect(await look(model)).toBe("Done.");
    expect(await look(model)).toBe("Done.");
    expect(statuses.filter((one) => one !== 200)).toEqual([status]);
    expect(bodies.at(-1)).toMatch(LEFT_OUT);
  });

  test("that refuses PDFs alone still sees pictures", async () => {
    const { url, bodies } = await server((body) =>
      body.includes("data:application/pdf") ? { status: 400, message: "Unknown part type: file" } : undefined,
    );
    expect(await look(compatible(url))).toBe("Done.");
    expect(bodies.at(-1)).toContain("data:image/png;base64,");
    expect(bodies.at(-1)?.match(LEFT_OUT)).toHaveLength(1);
  });

  test("gets words for a picture of a person that it refused", async () => {
    const { url, statuses } = await server((body) =>
      body.includes("data:image/png") ? { status: 400, message: "images are not supported" } : undefined,
    );
    const agent = createDeepAgent({ model: compatible(url), backend: await files() });
    const image = { type: "image", mimeType: "image/png", data: Buffer.from(png(2, 2)).toString("base64") };
    const { messages } = await agent.invoke({ messages: [new HumanMessage({ content: [image] as never })] });
    expect(messages.at(-1)?.text).toBe("Done.");
    expect(statuses.filter((status) => status !== 200)).toEqual([400]);
  });

  test("that refuses for another reason is not asked again", async () => {
    const { url, statuses } = await server((body) =>
      body.includes("data:image/png") ? { status: 400, message: "temperature must be below 2" } : undefined,
    );
    await expect(look(compatible(url))).rejects.toThrow(/temperature/);
    expect(statuses).toEqual([200, 400]);
  });

  test("of Ollama sees pictures; a PDF, which its package cannot send, comes as words", async () => {
    const { url, bodies } = await server(() => undefined);
    const model = new ChatOllama({ baseUrl: url, model: "m", streaming: false, maxRetries: 0 });
    expect(await look(model as unknown as ChatModel)).toBe("Done.");
    expect(
      JSON.parse(bodies.at(-1) ?? "{}").messages.some((one: { images?: [] }) => one.images?.length),
    ).toBe(true);
    expect(bodies.at(-1)?.match(LEFT_OUT)).toHaveLength(1);
  });

  test("whose client throws before it sends is asked with words", async () => {
    const model = scriptedModel([
      callTool("read_file", { file_path: "/a.png" }),
      new Error("This client does not support image blocks."),
      say("Done."),
    ]);
    expect(await look(model)).toBe("Done.");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toMatch(LEFT_OUT);
  });
});
