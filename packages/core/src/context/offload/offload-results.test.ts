import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { BackendProtocol } from "../../backends/backend.ts";
import { CompositeBackend } from "../../backends/composite/composite.ts";
import { FilesystemBackend } from "../../backends/disk/filesystem.ts";
import { previewBackend } from "../../backends/preview/preview.ts";
import { LocalSandbox } from "../../backends/sandbox/local-sandbox-for-tests.ts";
import { LocalShellBackend } from "../../backends/shell/local-shell.ts";
import { StateBackend } from "../../backends/state/state.ts";
import { StoreBackend } from "../../backends/store/store.ts";
import { PolicyBackend } from "../../permissions/policy/policy.ts";
import { callTool } from "../../testing/index.ts";
import { manyLines, offloadAgent, PIXEL, toolMessages } from "./offload-for-tests.ts";

const TEXT = manyLines(10_000);
const hi = { messages: [{ role: "user", content: "go" }] };
const directory = () => mkdtempSync(join(tmpdir(), "offload-"));
const pathIn = (message: ToolMessage | undefined): string =>
  /All of it is in '([^']+)'/.exec(message?.text ?? "")?.[1] ?? "";

describe("a result that is too long", () => {
  it.each(["plain", "message", "command"])("of a %s result is in a file, whole", async (name) => {
    const { agent } = offloadAgent({ turns: [callTool(name, {}, "call_1"), "done"] });
    const state: any = await agent.invoke(hi);
    const [result] = toolMessages(state);
    expect(state.files["/large_tool_results/call_1"].content).toBe(TEXT);
    expect(result?.text).toContain(`10000 lines, ${TEXT.length} characters`);
    expect(result?.text).toContain("read_file");
    expect(result?.text).toContain(TEXT.split("\n").slice(0, 10).join("\n"));
    expect(result?.text.endsWith(TEXT.split("\n").slice(-5).join("\n"))).toBe(true);
    expect(result?.text.length).toBeLessThan(6000);
    expect(result?.additional_kwargs.deepwright).toEqual({
      offloaded: { path: "/large_tool_results/call_1" },
    });
  });

  it.each([
    ["large_tool_results", "large_tool_results", true],
    [".deepwright", ".deepwright/large_tool_results", false],
  ])("is not put where a link of the workspace leads: %s", async (link, area, virtualMode) => {
    const rootDir = directory();
    symlinkSync(".", join(rootDir, link));
    const backend = new FilesystemBackend({ rootDir, virtualMode });
    const { agent } = offloadAgent({
      files: { backend },
      turns: [callTool("plain", {}, "Makefile"), "done"],
      agent: { backend, permissions: [{ operations: ["write"], paths: ["/**"], mode: "deny" }] },
    });
    const [result] = toolMessages((await agent.invoke(hi)) as never);
    expect(readdirSync(rootDir)).toEqual([link]);
    expect(result?.text).toContain("links are not followed there");
    expect(result?.text).not.toContain(`All of it is in '/${area}`);
  });

  it("keeps every other field of the message", async () => {
    const { agent } = offloadAgent({ turns: [callTool("message", {}, "call_1"), "done"] });
    const [result] = toolMessages((await agent.invoke(hi)) as never);
    expect(result).toMatchObject({
      ...{ status: "error", artifact: { kept: 1 }, metadata: { source: "here" } },
      ...{ name: "other", tool_call_id: "call_1", additional_kwargs: { mine: true } },
    });
    expect(result?.toDict().data).toMatchObject({ artifact: { kept: 1 }, content: result?.content });
  });

  it("in blocks loses its words, not its pictures", async () => {
    const { agent } = offloadAgent({ turns: [callTool("blocks", {}, "call_1"), "done"] });
    const state: any = await agent.invoke(hi);
    const content = toolMessages(state)[0]?.content as { type: string }[];
    expect(content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(state.files["/large_tool_results/call_1"].content).toBe(
      `${TEXT.slice(0, 1000)}\n${TEXT.slice(1000)}`,
    );
    expect(JSON.stringify(state.messages)).not.toContain(PIXEL);
  });

  it("is measured by its words alone", async () => {
    const { agent } = offloadAgent({ text: "short", turns: [callTool("blocks", {}, "call_1"), "done"] });
    const state: any = await agent.invoke(hi);
    expect(Object.keys(state.files ?? {}).filter((path) => path.endsWith("call_1"))).toEqual([]);
  });

  it.each([
    ["at the limit of characters no token can be smaller than", 1000, undefined, false],
    ["far above it", 4001, 1000, true],
    ["with no limit", 100_000, null, false],
  ])("is decided by its length %s", async (_name, size, limit, moved) => {
    const { agent } = offloadAgent({
      files: { toolTokenLimitBeforeEvict: limit as number | null },
      turns: [callTool("plain", { size }, "call_1"), "done"],
    });
    const state: any = await agent.invoke(hi);
    expect(Object.hasOwn(state.files ?? {}, "/large_tool_results/call_1")).toBe(moved);
    if (!moved) expect(toolMessages(state)[0]?.text).toBe("x".repeat(size));
  });

  it("is so by a quarter of the model's window", async () => {
    const { agent } = offloadAgent({
      profile: { maxInputTokens: 8000 },
      turns: [callTool("plain", { size: 10_000 }, "call_1"), "done"],
    });
    const state: any = await agent.invoke(hi);
    expect(Object.keys(state.files)).toContain("/large_tool_results/call_1");
    expect(toolMessages(state)[0]?.text.length).toBeLessThan(3000);
  });

  it("keeps apart the results of calls that ran at once", async () => {
    const toolCalls = Array.from({ length: 5 }, (_, i) => ({
      ...{ name: i % 2 ? "command" : "plain", id: `call_${i}`, args: { size: 100_000 + i } },
    }));
    const { agent } = offloadAgent({ turns: [{ toolCalls }, "done"] });
    const state: any = await agent.invoke(hi);
    for (let i = 0; i < 5; i++)
      expect(state.files[`/large_tool_results/call_${i}`].content.length).toBe(100_000 + i);
  });

  it("is there after a stop and in another process", async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const first = offloadAgent({ turns: [callTool("plain", {}, "call_1"), "done"], agent: { checkpointer } });
    await first.agent.invoke(hi, config);
    const read = callTool("read_file", { file_path: "/large_tool_results/call_1", offset: 9998 });
    const second = offloadAgent({ turns: [read, "done"], agent: { checkpointer } });
    const state: any = await second.agent.invoke(hi, config);
    expect(toolMessages(state).at(-1)?.text).toContain("row 10000 of 10000");
  });

  it("gets another name where a file with another content has its own", async () => {
    const { agent } = offloadAgent({ turns: [callTool("plain", {}, "call_1"), "done"] });
    const files = { "/large_tool_results/call_1": { content: "mine" } };
    const state: any = await agent.invoke({ ...hi, files } as never);
    expect(state.files["/large_tool_results/call_1"].content).toBe("mine");
    const path = pathIn(toolMessages(state)[0]) as string;
    expect(path).toMatch(/^\/large_tool_results\/call_1-\w+$/);
    expect(state.files[path].content).toBe(TEXT);
  });

  it("takes a file that has the content already", async () => {
    const { agent } = offloadAgent({ turns: [callTool("plain", {}, "call_1"), "done"] });
    const files = { "/large_tool_results/call_1": { content: TEXT } };
    const state: any = await agent.invoke({ ...hi, files } as never);
    expect(Object.keys(state.files)).toEqual(["/large_tool_results/call_1"]);
  });
});

describe("where the file is", () => {
  class PlacedSandbox extends LocalSandbox {
    readonly workingDirectory = this.root;
  }
  const real = directory();
  const store = new InMemoryStore();
  const sandbox = new PlacedSandbox();

  it.each<[string, BackendProtocol, BackendProtocol | undefined]>([
    ["on a disk", new FilesystemBackend({ rootDir: directory() }), undefined],
    ["on a virtual disk", new FilesystemBackend({ rootDir: directory(), virtualMode: true }), undefined],
    ["in a store", new StoreBackend({ store, namespace: ["files"] }), undefined],
    ["in a sandbox", sandbox, undefined],
    ["behind rules", new PolicyBackend(new FilesystemBackend({ rootDir: real })), undefined],
    [
      "behind mounts",
      new CompositeBackend(new FilesystemBackend({ rootDir: directory() }), {
        "/memories/": new StateBackend(),
      }),
      undefined,
    ],
    ["in a preview", previewBackend(new FilesystemBackend({ rootDir: directory() })), undefined],
  ])("%s: it can be read there, byte by byte", async (_name, backend) => {
    const text = `${manyLines(5000, "größer 日本 😀")}\r\n\r\n`;
    const { agent } = offloadAgent({
      ...{ text, files: { backend }, agent: { store } },
      turns: [callTool("plain", {}, "call_1"), "done"],
    });
    const state: any = await agent.invoke(hi);
    const path = pathIn(toolMessages(state)[0]);
    expect(path).toMatch(/large_tool_results\/call_1$/);
    const raw = await readRawFile(backend, path);
    expect(raw.data?.content).toBe(text);
  });

  it("of a factory: it is what the factory makes", async () => {
    const rootDir = directory();
    const { agent } = offloadAgent({
      files: { backend: () => new FilesystemBackend({ rootDir }) },
      turns: [callTool("plain", {}, "call_1"), "done"],
    });
    await agent.invoke(hi);
    expect(readFileSync(join(rootDir, ".deepwright/large_tool_results/call_1"), "utf8")).toBe(TEXT);
  });

  it.each([
    [false, (path: string) => path],
    [true, (path: string) => `.${path}`],
  ])("the shell opens it as the prompt says (virtual: %s)", async (virtualMode, inShell) => {
    const backend = new LocalShellBackend({ rootDir: directory(), virtualMode });
    const { agent, model } = offloadAgent({
      files: { backend },
      turns: [callTool("plain", {}, "call_1"), "done"],
    });
    const state: any = await agent.invoke(hi);
    const path = pathIn(toolMessages(state)[0]);
    expect(model.calls[0]?.messages[0]?.text).toContain(virtualMode ? "write `./a/b`" : "use the same paths");
    const { output, exitCode } = await backend.execute(`tail -n 1 '${inShell(path)}'`);
    expect([output, exitCode]).toEqual(["row 10000 of 10000: lorem ipsum dolor sit", 0]);
  });
});

describe("a result that cannot be kept", () => {
  const failing = (write: BackendProtocol["write"]): BackendProtocol =>
    Object.assign(new FilesystemBackend({ rootDir: directory() }), { write });

  it.each<[string, BackendProtocol, RegExp]>([
    ["full", failing(() => ({ error: "No space left", code: "STORAGE_FULL" })), /No space left/],
    ["broken", failing(async () => Promise.reject(new Error("password=1"))), /the files cannot be reached/],
    [
      "read-only",
      new PolicyBackend(new FilesystemBackend({ rootDir: directory(), virtualMode: true }), {
        readOnly: true,
      }),
      /could not be kept: .*not allowed/,
    ],
    [
      "forbidden",
      new PolicyBackend(new StoreBackend({ store: new InMemoryStore(), namespace: ["a"] }), {
        denyPrefixes: ["/large_tool_results"],
      }),
      /could not be kept: .*not allowed/,
    ],
  ])("because the disk is %s: beginning and end stay, and the run goes on", async (_name, backend, words) => {
    const { agent } = offloadAgent({
      files: { backend },
      turns: [callTool("plain", {}, "call_1"), "done"],
    });
    const state: any = await agent.invoke(hi);
    const text = toolMessages(state)[0]?.text ?? "";
    expect(text).toMatch(words);
    expect(text).not.toContain("password");
    expect(text).toContain("row 10 of 10000");
    expect(text.endsWith("row 10000 of 10000: lorem ipsum dolor sit")).toBe(true);
    expect(text.length).toBeLessThan(22_000);
    expect(state.messages.at(-1).text).toBe("done");
  });

  it("because the run was stopped: the run stops", async () => {
    const controller = new AbortController();
    const backend = failing(async (_path, _content, options) => {
      controller.abort();
      options?.signal?.throwIfAborted();
      throw new Error("not reached");
    });
    const { agent } = offloadAgent({ files: { backend }, turns: [callTool("plain", {}, "call_1"), "done"] });
    await expect(agent.invoke(hi, { signal: controller.signal })).rejects.toThrow(/abort/i);
  });
});

describe("tools that bound their results themselves", () => {
  it("a page of a file is never moved, however small the window is", async () => {
    const { agent } = offloadAgent({
      profile: { maxInputTokens: 8000 },
      turns: ["hello", callTool("read_file", { file_path: "/big" }), "done"],
      agent: { checkpointer: new MemorySaver() },
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(hi, config);
    const files = { "/big": { content: "漢字".repeat(200_000) } };
    const state: any = await agent.invoke({ ...hi, files } as never, config);
    expect(Object.keys(state.files)).toEqual(["/big"]);
    expect(toolMessages(state)[0]?.text).toContain("goes on for");
    expect(toolMessages(state)[0]?.text.length).toBeLessThan(3000);
  });

  it("a long listing is cut in place: another search would find a file of it", async () => {
    const { agent } = offloadAgent({
      profile: { maxInputTokens: 8000 },
      turns: [callTool("ls", { path: "/" }), callTool("grep", { pattern: "needle" }), "done"],
    });
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `/some-directory-${i}-with-a-long-name.txt`,
        { content: "needle" },
      ]),
    );
    const state: any = await agent.invoke({ ...hi, files } as never);
    expect(Object.keys(state.files).length).toBe(500);
    for (const result of toolMessages(state)) {
      expect(result.text).toContain("Ask for less");
      expect(result.text.length).toBeLessThan(3000);
      expect(result.additional_kwargs.deepwright).toEqual({ shortened: true });
    }
  });
});
