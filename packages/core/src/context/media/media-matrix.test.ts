import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { tool } from "langchain";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { FilesystemBackend } from "../../backends/disk/filesystem.ts";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { judgeMedia, type SeenMedia } from "../fixtures/provider-media-for-tests.ts";
import { type ProviderServer, providerServer } from "../fixtures/provider-server-for-tests.ts";
import { MODELS } from "../fixtures/provider-server-models-for-tests.ts";
import type { Api } from "../fixtures/provider-server-read-for-tests.ts";
import { KINDS } from "./media-kinds-for-tests.ts";

const names = Object.keys(KINDS);
const encoded = (name: string): string => Buffer.from(KINDS[name]?.bytes ?? []).toString("base64");

let server: ProviderServer | undefined;
let directory = "";
afterEach(async () => {
  await server?.close();
  server = undefined;
  if (directory !== "") await rm(directory, { recursive: true, force: true });
  directory = "";
});

/** As a server of the Model Context Protocol would: whatever it is, under the type it is said to have. */
const fetchIt = tool(
  async ({ name }) => {
    const { bytes, mimeType, name: file } = KINDS[name] as (typeof KINDS)[string];
    const data = Buffer.from(bytes).toString("base64");
    const family = mimeType.split("/")[0] as string;
    if (family === "image" || family === "audio") return [{ type: family, data, mimeType }] as never;
    return [{ type: "resource", resource: { uri: `files:///${file}`, mimeType, blob: data } }] as never;
  },
  { name: "fetch", description: "Fetches.", schema: z.object({ name: z.string() }) },
);

async function workspace(): Promise<FilesystemBackend> {
  directory = await mkdtemp(join(tmpdir(), "media-"));
  for (const { name, bytes } of Object.values(KINDS)) await writeFile(join(directory, name), bytes);
  return new FilesystemBackend({ rootDir: directory });
}

/** In the forms people's programs write. */
function attached(name: string, index: number): Record<string, unknown> {
  const { mimeType, name: filename } = KINDS[name] as (typeof KINDS)[string];
  const data = encoded(name);
  const family = mimeType.split("/")[0] as string;
  const type = ["image", "audio", "video"].includes(family) ? family : "file";
  if (index % 4 === 1 && type === "image")
    return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } };
  if (index % 4 === 2 && type !== "video")
    return { type, source_type: "base64", mime_type: mimeType, data, metadata: { filename } };
  if (index % 4 === 3) return { type: "media", mimeType, data };
  return { type, mimeType, data, metadata: { filename } };
}

interface Told {
  readonly refusals: readonly string[];
  readonly media: readonly SeenMedia[];
  readonly statuses: readonly number[];
}

async function converse(
  api: Api,
  build: (url: string) => ChatModel,
  backend: FilesystemBackend,
  saver: MemorySaver,
  { takesMedia = true, attaches = true } = {},
): Promise<Told> {
  const refusals: string[] = [];
  let media: readonly SeenMedia[] = [];
  server = await providerServer({
    answer: ({ turn, body }) => {
      const verdict = judgeMedia(api, body, takesMedia);
      if (verdict.refusal !== undefined) {
        refusals.push(verdict.refusal);
        return { status: 400, body: { error: { message: verdict.refusal } } };
      }
      media = verdict.media;
      const name = names[Math.floor(turn / 2)] as string;
      if (turn % 2 === 1) return { text: `I saw ${name}.` };
      const calls = [
        { name: "read_file", args: { file_path: KINDS[name]?.name } },
        { name: "fetch", args: { name } },
      ];
      return { calls };
    },
  });
  const agent = createDeepAgent({ model: build(server.url), backend, tools: [fetchIt], checkpointer: saver });
  const config = { configurable: { thread_id: "t" } };
  for (const [index, name] of names.entries()) {
    const words = { type: "text", text: `Look at ${name}.` };
    const content = attaches ? [words, attached(name, index)] : [words];
    await agent.invoke({ messages: [new HumanMessage({ content: content as never })] }, config);
  }
  const statuses = server.requests.map(({ status }) => status);
  return { refusals: [...refusals, ...server.refusals], media, statuses };
}

/** Each request begins with the whole of the one before; where cache marks move, another test looks. */
function expectGrowingRequests(): void {
  const lists = (server?.requests ?? []).map(({ body }) => body.messages ?? body.input ?? body.contents);
  for (const [index, list] of lists.entries()) {
    const next = lists[index + 1]?.slice(0, list.length);
    if (next !== undefined)
      expect(JSON.stringify(next) === JSON.stringify(list), `request ${index}`).toBe(true);
  }
}

/** The kinds whose bytes were in the last request. */
function shown(media: readonly SeenMedia[]): string[] {
  return names.filter((name) => media.some(({ data }) => data === encoded(name)));
}

/**
 * Content of the saver for the thread, as one text. The engine notes the input of a run before any of our code sees
 * it; that note is not part of the thread.
 */
function stored(saver: MemorySaver): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("latin1"));
    else if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
  };
  for (const [checkpoint, metadata] of Object.values(saver.storage.t?.[""] ?? {}))
    if (!Buffer.from(metadata).includes('"source":"input"')) collect(checkpoint);
  collect(saver.writes);
  expect(texts.length).toBeGreaterThan(names.length);
  return texts.join("\n");
}

const local = (url: string): ChatModel =>
  new ChatOpenAI({
    apiKey: "key",
    model: "some-local-model",
    configuration: { baseURL: `${url}/v1` },
    maxRetries: 0,
  }) as unknown as ChatModel;

const textOnly = (url: string): ChatModel => {
  const model = local(url);
  Object.defineProperty(model, "profile", { value: { imageInputs: false } });
  return model;
};

describe("files of every kind, read, fetched and attached", () => {
  test.each<[string, Api, (url: string) => ChatModel, readonly string[]]>([
    ["anthropic", "anthropic", MODELS.anthropic, ["png", "jpeg", "gif", "moving", "webp", "pdf", "misnamed"]],
    ["chat completions", "chat", MODELS.chat, ["png", "jpeg", "gif", "webp", "pdf", "misnamed"]],
    ["responses", "responses", MODELS.responses, ["png", "jpeg", "gif", "webp", "pdf", "misnamed"]],
    [
      "gemini",
      "gemini",
      MODELS.gemini,
      ["png", "jpeg", "webp", "heic", "pdf", "wav", "mp3", "mp4", "misnamed"],
    ],
  ])("%s takes every request, and sees what it can see", async (_name, api, build, expected) => {
    const saver = new MemorySaver();
    const told = await converse(api, build, await workspace(), saver);
    expect(told.refusals).toEqual([]);
    expect(told.statuses).toEqual(names.flatMap(() => [200, 200]));
    expect(shown(told.media)).toEqual(expected);
    if (api !== "anthropic") expectGrowingRequests();
    // Once read, once fetched, once attached.
    expect(told.media.filter(({ data }) => data === encoded("png"))).toHaveLength(3);
    const text = stored(saver);
    for (const name of names.filter((kind) => kind !== "text" && kind !== "svg"))
      expect(text.includes(encoded(name).slice(0, 40)), name).toBe(false);
    const kept = await readdir(join(directory, ".deepwright/large_tool_results"));
    expect(kept.filter((name) => name.endsWith(".pdf"))).toHaveLength(1);
  });

  test("a model that reads text only is told what there was", async () => {
    const told = await converse("chat", textOnly, await workspace(), new MemorySaver(), {
      takesMedia: false,
    });
    expect(told.refusals).toEqual([]);
    expect(told.statuses).toEqual(names.flatMap(() => [200, 200]));
    const sent = JSON.stringify(server?.requests.at(-1)?.body);
    expect(sent).toMatch(
      /\[image\/png 'a\.png', \d+ bytes: left out, this model cannot take it\. It is the file /,
    );
    expect(sent).toContain("These are words, whatever the name says.");
  });
});

describe("a server that speaks like OpenAI's, with a model nobody knows", () => {
  test("is sent what tools bring until it refuses, each kind once, and is told what there was", async () => {
    const told = await converse("chat", local, await workspace(), new MemorySaver(), {
      takesMedia: false,
      attaches: false,
    });
    expect(told.refusals).toEqual([
      "this model does not support image/png",
      "this model does not support application/pdf",
    ]);
    expect(told.statuses.filter((status) => status === 200)).toEqual(names.flatMap(() => [200, 200]));
    expect(told.statuses.filter((status) => status !== 200)).toHaveLength(2);
  });
});

describe("another model for the same thread", () => {
  test("goes on with words, and back with the pictures", async () => {
    const saver = new MemorySaver();
    const backend = await workspace();
    const config = { configurable: { thread_id: "t" } };
    const seeing = await converse("chat", MODELS.chat, backend, saver);
    expect(seeing.refusals).toEqual([]);
    const blind = scriptedModel(["I read."], { profile: { imageInputs: false } });
    const reader = createDeepAgent({ model: blind, backend, tools: [fetchIt], checkpointer: saver });
    await reader.invoke({ messages: [new HumanMessage("And now?")] }, config);
    const sent = JSON.stringify(blind.calls[0]?.messages.map(({ content }) => content));
    expect(sent).not.toContain(encoded("png"));
    expect(sent).toContain("[image/png 'a.png'");
    const bodies: unknown[] = [];
    await server?.close();
    server = await providerServer({
      answer: ({ body }) => {
        bodies.push(body);
        return { text: "I see again." };
      },
    });
    const again = createDeepAgent({
      model: MODELS.gemini(server.url),
      backend,
      tools: [fetchIt],
      checkpointer: saver,
    });
    await again.invoke({ messages: [new HumanMessage("Look once more.")] }, config);
    const verdict = judgeMedia("gemini", bodies[0]);
    expect(verdict.refusal).toBeUndefined();
    expect(shown(verdict.media)).toContain("mp4");
  });
});
