import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { BackendProtocol } from "../../backends/backend.ts";
import { FilesystemBackend } from "../../backends/disk/filesystem.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import type { TaskConfig } from "../../engine/engine.ts";
import type { StageTask } from "../../loop/contract/stages.ts";
import { appendHistory, type HistoryRequest, historyName, sectionOf } from "./history.ts";

const task = {
  config: {},
  signal: undefined,
  runtime: { state: {} },
  read: () => undefined,
} as unknown as StageTask;
const say = (...ids: string[]): HumanMessage[] =>
  ids.map((id) => new HumanMessage({ id, content: `says ${id}` }));

const append = (backend: BackendProtocol, changes: Partial<HistoryRequest>) =>
  appendHistory({
    ...{ backend, task, directory: undefined, name: "t", messages: [], parts: 0 },
    thread: changes.messages ?? [],
    ...changes,
  });

async function textIn(backend: BackendProtocol, path: string): Promise<string> {
  return String((await readRawFile(backend, path)).data?.content ?? "");
}

describe("the record", () => {
  it("of a branch is written too, though it begins like another one", async () => {
    const backend = new MapBackend();
    await append(backend, { messages: say("1", "2", "3") });
    const branch = say("1", "mango");
    const { path } = await append(backend, { messages: branch });
    expect(await textIn(backend, path as string)).toContain("says mango");
    await append(backend, { messages: branch });
    expect((await textIn(backend, path as string)).split("says mango")).toHaveLength(2);
    await append(backend, { messages: say("1"), thread: say("1", "2", "3", "4") });
    expect((await textIn(backend, path as string)).split("says 1")).toHaveLength(3);
  });

  it("shows roles, words, calls with arguments and results, and media by reference only", () => {
    const args = { file_path: "/a", content: "```js\n```" };
    const image = { type: "image", mimeType: "image/png", data: "QUJD".repeat(5000) };
    const kept = { type: "image", mimeType: "image/png", url: "/large_tool_results/x.png" };
    const text = sectionOf([
      new HumanMessage({ id: "h", content: [{ type: "text", text: "See:" }, image, kept] as never }),
      new AIMessage({
        id: "a",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Ok." },
        ],
        tool_calls: [{ id: "c", name: "write_file", args }],
      }),
      new ToolMessage({ id: "t", tool_call_id: "c", name: "write_file", status: "error", content: "no" }),
    ]);
    expect(text).toBe(
      [
        "<!-- archived h..t -->",
        "### User\n\nSee:\n[image/png, about 15000 bytes]\n[image/png /large_tool_results/x.png]",
        `### Assistant\n\nOk.\n\nCalls write_file (c):\n\`\`\`\`json\n${JSON.stringify(args, undefined, 1)}\n\`\`\`\``,
        "### Result of write_file (c), failed\n\nno\n\n",
      ].join("\n\n"),
    );
  });

  it("is appended to, and what is there is not written again", async () => {
    const backend = new MapBackend();
    await append(backend, { messages: say("1", "2") });
    await append(backend, { messages: say("1", "2") });
    await append(backend, { messages: say("3") });
    expect((await textIn(backend, "/conversation_history/t.md")).match(/says \d/g)).toEqual([
      "says 1",
      "says 2",
      "says 3",
    ]);
  });

  it("gets only the rest where a section was cut elsewhere before a crash", async () => {
    const backend = new MapBackend();
    await append(backend, { messages: say("1", "2") });
    await append(backend, { messages: say("1", "2", "3", "4") });
    await append(backend, { messages: say("1"), thread: say("1", "2", "3", "4") });
    expect((await textIn(backend, "/conversation_history/t.md")).match(/says \d/g)).toEqual([
      "says 1",
      "says 2",
      "says 3",
      "says 4",
    ]);
  });

  it("does not take words of the conversation for its own marks", async () => {
    const backend = new MapBackend();
    await append(backend, { messages: [new HumanMessage({ id: "1", content: "<!-- archived 2..9 -->" })] });
    await append(backend, { messages: say("2") });
    expect(await textIn(backend, "/conversation_history/t.md")).toContain("says 2");
  });

  it("survives ids of any form", async () => {
    const backend = new MapBackend();
    const ids = ["run--a..b c", "<!-- archived x..y -->", "ä/\\\n"];
    for (const id of [...ids, ...ids]) await append(backend, { messages: say(id) });
    expect((await textIn(backend, "/conversation_history/t.md")).match(/### User/g)).toHaveLength(3);
  });

  it("is in numbered parts where nothing can be appended; parts of another branch are left alone", async () => {
    const store = new MapBackend();
    const methods = ["ls", "read", "readRaw", "write", "edit", "grep", "glob"] as const;
    const bound = methods.map((name) => [name, store[name].bind(store)]);
    const backend = Object.fromEntries(bound) as BackendProtocol;
    const first = await append(backend, { messages: say("1") });
    expect(first).toEqual({ path: "/conversation_history/t.part-0001.md", parts: 1 });
    expect(await append(backend, { messages: say("1") })).toEqual(first);
    expect(await append(backend, { messages: say("x") })).toEqual({
      path: "/conversation_history/t.part-*.md",
      parts: 2,
    });
    expect(await textIn(store, "/conversation_history/t.part-0001.md")).toContain("says 1");
  });

  it("lies where the shell can open it, on a disk with real paths", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "history-"));
    const backend = new FilesystemBackend({ rootDir, virtualMode: false });
    await append(backend, { messages: say("1") });
    const { path = "" } = await append(backend, { messages: say("2") });
    expect(path).toMatch(/\/\.deepwright\/conversation_history\/t\.md$/);
    expect(readFileSync(path, "utf8").match(/says \d/g)).toEqual(["says 1", "says 2"]);
  });

  it("that cannot be written has no path, and nothing is thrown", async () => {
    const broken = new Proxy(
      {},
      {
        get: () => () => {
          throw new Error("connection lost");
        },
      },
    ) as BackendProtocol;
    expect(await append(broken, { messages: say("1") })).toEqual({ parts: 0 });
    const refusing = {
      ...new MapBackend(),
      write: () => ({ error: "no", code: "PERMISSION_DENIED" }),
    } as unknown as BackendProtocol;
    expect(await append(refusing, { messages: say("1") })).toEqual({ parts: 0 });
  });

  it("throws when the run was stopped", async () => {
    const signal = AbortSignal.abort();
    const backend = new MapBackend();
    await expect(
      append(backend, { messages: say("1"), task: { ...task, signal } as StageTask }),
    ).rejects.toThrow();
  });
});

describe("historyName", () => {
  const config = (thread: unknown, namespace: string): TaskConfig =>
    ({ configurable: { thread_id: thread, checkpoint_ns: namespace } }) as never;

  it("is that of the thread, made safe", () => {
    expect(historyName(config("abc", "model_request:1"), "s")).toBe("abc");
    expect(historyName(config("../../etc/passwd", ""), "s")).not.toContain("/");
  });

  it("is another one for each child", () => {
    const names = ["model_request:1", "tools:1|model_request:2", "tools:2|model_request:3"].map((namespace) =>
      historyName(config("abc", namespace), "s"),
    );
    expect(new Set(names).size).toBe(3);
  });

  it("is that of the session where there is no thread", () =>
    expect(historyName(config(undefined, ""), "s-1")).toBe("session_s-1"));
});
