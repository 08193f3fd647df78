import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createMiddleware, tool } from "langchain";
import { afterAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { OlderMapBackend } from "../../backends/adapt/older-backend-for-tests.ts";
import type { BackendProtocol } from "../../backends/backend.ts";
import { CompositeBackend } from "../../backends/composite/composite.ts";
import { FilesystemBackend } from "../../backends/disk/filesystem.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import type { BackendSource } from "../../backends/resolve.ts";
import { LocalShellBackend } from "../../backends/shell/local-shell.ts";
import { StateBackend } from "../../backends/state/state.ts";
import { StoreBackend } from "../../backends/store/store.ts";
import type { StageTask } from "../../loop/contract/stages.ts";
import type { MediaReference } from "../../loop/request/request-media-block.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { blockOfBytes } from "../../text/media.ts";
import { KINDS, movingGif, png } from "./media-kinds-for-tests.ts";
import { createMediaStages } from "./media-references.ts";

const SEES = { imageInputs: true, imageToolMessage: true, pdfInputs: true, pdfToolMessage: true };
const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const PICTURE = png(7, 5);
const picture = { type: "image", mimeType: "image/png", data: encoded(PICTURE) };

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "media-"));
  directories.push(directory);
  return directory;
}

function said(...blocks: object[]): HumanMessage {
  return new HumanMessage({ content: [{ type: "text", text: "see" }, ...blocks] as never });
}

function blocksOf(message: BaseMessage | undefined): Record<string, unknown>[] {
  return typeof message?.content === "string" ? [] : ((message?.content ?? []) as never);
}

/** A backend that has what every backend must have, and nothing else. */
function barest(): BackendProtocol {
  const inner = new MapBackend();
  const methods = ["ls", "read", "readRaw", "write", "edit", "grep", "glob"] as const;
  return Object.fromEntries(methods.map((name) => [name, inner[name].bind(inner)])) as never;
}

describe("the bytes a person attached", () => {
  test.each<[string, () => BackendSource | undefined | Promise<BackendSource>]>([
    ["the state of the thread", () => undefined],
    ["a factory for the state", () => (runtime) => new StateBackend(runtime)],
    ["a store", () => new StoreBackend({ namespace: ["m"] })],
    ["a map", () => new MapBackend()],
    ["a directory", async () => new FilesystemBackend({ rootDir: await newDirectory() })],
    [
      "a directory with paths of its own",
      async () => new FilesystemBackend({ rootDir: await newDirectory(), virtualMode: true }),
    ],
    ["a machine", async () => new LocalShellBackend({ rootDir: await newDirectory() })],
    ["several places", () => new CompositeBackend(new MapBackend(), { "/large_tool_results": barest() })],
    ["a backend of the older protocol", () => new OlderMapBackend() as never],
    ["a backend that takes text only", barest],
  ])("are kept in %s and shown to the model, now and later", async (_name, build) => {
    const model = scriptedModel(["one", "two"], { profile: SEES });
    const backend = await build();
    const agent = createDeepAgent({
      model,
      ...(backend === undefined ? {} : { backend }),
      checkpointer: new MemorySaver(),
      store: new InMemoryStore(),
    });
    const config = { configurable: { thread_id: "t" } };
    const first = await agent.invoke({ messages: [said(picture)] }, config);
    const kept = blocksOf(first.messages[0])[1] as unknown as MediaReference;
    expect(kept).toMatchObject({
      type: "image",
      mimeType: "image/png",
      url: expect.stringMatching(/^backend:\/.*large_tool_results\/[0-9a-f]{32}\.png(\.b64)?$/),
      metadata: { size: PICTURE.length, width: 7, height: 5, sha: expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    expect(JSON.stringify(first.messages)).not.toContain(picture.data);
    await agent.invoke({ messages: [new HumanMessage("and?")] }, config);
    const sent = model.calls.map(
      ({ messages }) => blocksOf(messages.find(({ type }) => type === "human"))[1],
    );
    expect(sent).toEqual([picture, picture]);
  });

  test("are kept once, however often they come", async () => {
    const backend = new MapBackend();
    const upload = vi.spyOn(backend, "uploadFiles");
    const model = scriptedModel(["one"], { profile: SEES });
    const agent = createDeepAgent({ model, backend });
    await agent.invoke({ messages: [said(picture, picture), said(picture)] });
    expect(upload).toHaveBeenCalledTimes(1);
    expect((await backend.glob("**/*.png", "/")).files).toHaveLength(1);
  });

  test("leave the message of the caller as it was, in whichever way it was made", async () => {
    const backend = new MapBackend();
    const agent = createDeepAgent({ model: scriptedModel(["one"], { profile: SEES }), backend });
    const given = new HumanMessage({ contentBlocks: [picture] as never, name: "ann", id: "m1" });
    const { messages } = await agent.invoke({ messages: [given] });
    expect(given.content).toEqual([picture]);
    expect(messages[0]).toMatchObject({ name: "ann", id: "m1" });
    expect(JSON.stringify(messages[0]?.toJSON())).not.toContain(picture.data);
  });

  test("go to a model nobody knows in the form the person chose", async () => {
    const given = {
      type: "image_url",
      image_url: { url: `data:image/png;base64,${picture.data}`, detail: "low" },
    };
    const model = scriptedModel(["one"]);
    const agent = createDeepAgent({ model, backend: new MapBackend() });
    const { messages } = await agent.invoke({ messages: [said(given)] });
    expect(blocksOf(messages[0])[1]).toMatchObject({ type: "image", mimeType: "image/png" });
    expect(blocksOf(model.calls[0]?.messages.at(-1))[1]).toEqual(given);
  });

  test.each<[string, object, string]>([
    ["no base64", { ...picture, data: "%%%" }, "[image/png: left out, it is not valid base64]"],
    [
      "half a picture",
      { ...picture, data: encoded(PICTURE.subarray(0, 60)) },
      "[image/png, 60 bytes: it is damaged]",
    ],
    ["nothing", { ...picture, data: "" }, "[image/png, 0 bytes: it is empty]"],
  ])("that are %s become words", async (_name, block, words) => {
    const agent = createDeepAgent({ model: scriptedModel(["one"], { profile: SEES }) });
    const { messages } = await agent.invoke({ messages: [said(block)] });
    expect(blocksOf(messages[0])[1]).toEqual({ type: "text", text: words });
  });

  test("that say they are something else are called what they are", async () => {
    const agent = createDeepAgent({ model: scriptedModel(["one"], { profile: SEES }) });
    const { messages } = await agent.invoke({
      messages: [said({ ...picture, mimeType: "image/jpeg" }, { ...picture, data: encoded(movingGif()) })],
    });
    expect(blocksOf(messages[0]).slice(1)).toMatchObject([
      { mimeType: "image/png" },
      { mimeType: "image/gif", metadata: { animated: true } },
    ]);
  });

  test("become words where they cannot be kept, and the run goes on", async () => {
    for (const broken of [
      () => ({ error: "no", code: "PERMISSION_DENIED" }),
      () => {
        throw new Error("connection lost");
      },
    ]) {
      const backend = barest();
      Object.assign(backend, { write: broken });
      const agent = createDeepAgent({ model: scriptedModel(["one"], { profile: SEES }), backend });
      const { messages } = await agent.invoke({ messages: [said(picture)] });
      const text = `[image/png, ${PICTURE.length} bytes: left out, it could not be kept]`;
      expect(blocksOf(messages[0])[1]).toEqual({ type: "text", text });
      expect(messages.at(-1)?.text).toBe("one");
    }
  });
});

describe("a run that is stopped", () => {
  test("while bytes are kept ends with the abort", async () => {
    const controller = new AbortController();
    const backend = barest();
    Object.assign(backend, {
      write: () => {
        controller.abort(new Error("stopped"));
        controller.signal.throwIfAborted();
      },
    });
    const task = { signal: controller.signal, runtime: { state: {} } } as unknown as StageTask;
    const stages = createMediaStages({ backend });
    await expect(stages.input?.([said(picture)], task)).rejects.toThrow("stopped");
  });
});

describe("media in the result of a tool", () => {
  const shoot = (...blocks: object[]) =>
    tool(async () => blocks as never, { name: "shoot", description: "Shoots.", schema: z.object({}) });

  test("are kept as references, with everything else the result has", async () => {
    const stages = createMediaStages({ backend: new MapBackend() });
    const message = new ToolMessage({
      content: [picture] as never,
      tool_call_id: "c",
      name: "shoot",
      artifact: { a: 1 },
    });
    message.status = "error";
    const task = { runtime: { state: {} } } as unknown as StageTask;
    const kept = (await stages.result?.(message, { name: "shoot", args: {} }, task)) as ToolMessage;
    expect(kept).toMatchObject({ tool_call_id: "c", name: "shoot", artifact: { a: 1 }, status: "error" });
    expect(blocksOf(kept)[0]).toMatchObject({ url: expect.stringMatching(/^backend:/) });
  });

  test("are taken as the bytes they are where a tool of ours has them", async () => {
    const backend = new MapBackend();
    const task = { runtime: { state: {} } } as unknown as StageTask;
    const block = blockOfBytes({ type: "image", mimeType: "image/png" }, PICTURE);
    const message = new ToolMessage({ content: [block] as never, tool_call_id: "c" });
    await createMediaStages({ backend }).result?.(message, { name: "x", args: {} }, task);
    expect(Object.getOwnPropertyDescriptor(block, "data")?.get).toBeDefined();
    expect((await backend.glob("**/*.png", "/")).files).toHaveLength(1);
    expect(block.data).toBe(picture.data);
  });

  test("stay what they were when the file changes", async () => {
    const directory = await newDirectory();
    await writeFile(join(directory, "a.png"), PICTURE);
    const backend = new FilesystemBackend({ rootDir: directory, virtualMode: true });
    const read = { toolCalls: [{ name: "read_file", args: { file_path: "/a.png" } }] };
    const model = scriptedModel([read, "one", read, "two"], { profile: SEES });
    const agent = createDeepAgent({ model, backend, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [new HumanMessage("look")] }, config);
    const changed = png(9, 9, 3);
    await writeFile(join(directory, "a.png"), changed);
    await agent.invoke({ messages: [new HumanMessage("again")] }, config);
    const results = (model.calls[3]?.messages ?? []).filter(ToolMessage.isInstance);
    expect(results.map((result) => blocksOf(result)[1]?.data)).toEqual([picture.data, encoded(changed)]);
  });

  test("follow the model that a middleware chooses", async () => {
    const seeing = scriptedModel([{ toolCalls: [{ name: "shoot", args: {} }] }, "I see."], { profile: SEES });
    const blind = scriptedModel(["I read."], { profile: { imageInputs: false } });
    let isBlind = false;
    const chooser = createMiddleware({
      name: "Chooser",
      wrapModelCall: (request, handler) =>
        handler({ ...request, model: (isBlind ? blind : seeing) as never }),
    });
    const agent = createDeepAgent({
      model: seeing,
      tools: [shoot(picture)],
      middleware: [chooser],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [new HumanMessage("look")] }, config);
    isBlind = true;
    const { messages } = await agent.invoke({ messages: [new HumanMessage("and?")] }, config);
    expect(messages.at(-1)?.text).toBe("I read.");
    const shown = seeing.calls[1]?.messages.find(ToolMessage.isInstance);
    expect(blocksOf(shown)[0]).toMatchObject({ type: "image", data: picture.data });
    const told = blind.calls[0]?.messages.find(ToolMessage.isInstance);
    expect(told?.content).toMatch(
      /^\[image\/png, \d+ bytes: left out, this model cannot take it\. It is the file \//,
    );
  });
});

describe("a reference", () => {
  const task = { runtime: { state: {} } } as unknown as StageTask;

  test("opens nothing but what was kept", async () => {
    const secret = new TextEncoder().encode("secret");
    const backend = new MapBackend();
    await backend.uploadFiles([
      ["/secret.txt", secret],
      [`/large_tool_results/${"0".repeat(32)}.txt`, secret],
    ]);
    const { media } = createMediaStages({ backend });
    for (const path of [
      "/secret.txt",
      "/large_tool_results/../secret.txt",
      `/large_tool_results/${"0".repeat(32)}.txt`,
    ])
      expect(await media?.(`backend:${path}`, task)).toBeUndefined();
  });

  test("whose bytes are gone or out of reach becomes words", async () => {
    const backend = new MapBackend();
    const model = scriptedModel(["one", "two", "three"], { profile: SEES });
    const agent = createDeepAgent({ model, backend, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [said({ ...picture, data: encoded(png(3, 3, 91)) })] }, config);
    const blind = scriptedModel(["four", "five"], {
      name: "Other",
      profile: { ...SEES, imageToolMessage: false },
    });
    const other = (source: BackendProtocol) =>
      createDeepAgent({ model: blind, backend: source, checkpointer: agent.checkpointer as MemorySaver });
    const broken = new MapBackend();
    broken.downloadFiles = async () => {
      throw new Error("connection lost");
    };
    await other(broken).invoke({ messages: [new HumanMessage("and?")] }, config);
    await other(new MapBackend()).invoke({ messages: [new HumanMessage("and?")] }, config);
    const told = blind.calls.map(({ messages }) => messages.find(({ type }) => type === "human")?.content);
    expect(told[0]).toMatch(/: left out, its content cannot be reached now\. It is the file \//);
    expect(told[1]).toMatch(/: left out, its content is no longer there\]$/);
  });

  test("to a text is written out for every model", async () => {
    const model = scriptedModel(["one"], { profile: { imageInputs: false } });
    const agent = createDeepAgent({ model });
    const { bytes, name } = KINDS.svg as (typeof KINDS)[string];
    const block = {
      type: "image",
      mimeType: "image/svg+xml",
      data: encoded(bytes),
      metadata: { filename: name },
    };
    await agent.invoke({ messages: [said(block)] });
    expect(model.calls[0]?.messages.at(-1)?.content).toBe(
      `see\nContent of 'e.svg':\n${new TextDecoder().decode(bytes)}`,
    );
  });
});
