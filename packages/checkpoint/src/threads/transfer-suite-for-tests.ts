/** Export, import and copying of threads in every storage. For tests only. */
import { createDeepAgent } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { copyThreads } from "./copy-threads.ts";
import { listImages, recordImage } from "./images.ts";
import { openThreads } from "./open-threads.ts";
import { file, linesOf, newName, ThreadMaker } from "./thread-for-tests.ts";
import type { Threads } from "./threads.ts";

async function tuplesOf(saver: SharedSaver, threadId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { checkpoint, metadata, pendingWrites, parentConfig } of saver.list({
    configurable: { thread_id: threadId },
  }))
    found.push({ checkpoint, metadata, pendingWrites, parent: parentConfig?.configurable?.checkpoint_id });
  return found;
}

/** A thread with a child graph's checkpoints, an open question, odd values and before-images. */
async function richThread(saver: SharedSaver): Promise<string> {
  const id = newName();
  const config = { configurable: { thread_id: id }, metadata: { cwd: "/work", title: "Rich" } };
  const agent = (script: Script, options: object = {}) =>
    createDeepAgent({ model: scriptedModel(script), checkpointer: saver, ...options });
  const write = (path: string, content: string) => callTool("write_file", { file_path: path, content });
  const first = agent([write("/b", "b\n".repeat(9_000)), say("Fine.")]);
  await first.invoke({ messages: "Hi", files: { "/a": file("ä\0\ud800") as never } }, config);
  const second = agent([write("/c", "\ud800 \0 \u2028")], { interruptOn: { write_file: true } });
  await second.invoke({ messages: "Again" }, config);
  const odd = { odd: [new Map([[1, new Set([2])]]), new Date(0), new Uint8Array(2_000), 1n, undefined] };
  await new ThreadMaker(saver, id).put("update", { "/a": "x" }, odd);
  const child = { configurable: { thread_id: id, checkpoint_ns: "tools:1" } };
  const { checkpoint, metadata } = (await saver.getTuple(config)) as NonNullable<
    Awaited<ReturnType<SharedSaver["getTuple"]>>
  >;
  const parents = { "": checkpoint.id };
  await saver.put(child, checkpoint, { ...metadata, parents } as never, checkpoint.channel_versions);
  const image = { checkpointId: checkpoint.id, place: "/", path: "/x", before: "old", after: undefined };
  await recordImage(saver, id, image);
  return id;
}

type Line = Record<string, any>;

/** Each makes of a good file one that must be refused. */
const DAMAGE: readonly [string, (lines: Line[]) => unknown[], RegExp | string][] = [
  ["no file at all", () => [], "The thread file is empty"],
  ["not JSON", ([first]) => [first, "{oops"], "Line 2 of the thread file is not JSON"],
  ["another file", () => [{ name: "package.json" }], "Line 1 of the thread file is not the beginning"],
  ["a file that was cut", (lines) => lines.slice(0, -1), /ends after line \d+, before its end/],
  ["a missing line", (lines) => lines.filter(({ type }) => type !== "image"), "counts other images"],
  [
    "content that was changed",
    (lines) => lines.map((line) => (line.kind === 2 ? { ...line, text: `${line.text}!` } : line)),
    "does not match its hash",
  ],
  [
    "a reference to what comes later",
    (lines) => lines.map((line) => (line.type === "checkpoint" ? { ...line, refs: [99_999] } : line)),
    "refers to object 99999, which does not come before it",
  ],
  [
    "a checkpoint without its body",
    (lines) => lines.map((line) => (line.type === "checkpoint" ? { ...line, body: 1 } : line)),
    "is not a whole checkpoint",
  ],
  [
    "a checkpoint whose id cannot be",
    (lines) => lines.map((line) => (line.type === "checkpoint" ? { ...line, id: "a\0" } : line)),
    "unusable id",
  ],
  [
    "a state that says nothing",
    (lines) => lines.map((line) => (line.type === "checkpoint" ? { ...line, body: "[1]" } : line)),
    "cannot be read",
  ],
  ["a kind of line nobody knows", (lines) => [lines[0], { type: "script" }], "does not know"],
  ["a line after the end", (lines) => [...lines, lines[1]], "comes after the end"],
];

export function transferSuite(name: string, open: () => Promise<SharedSaver>): void {
  describe(`export and import in ${name}`, () => {
    let saver: SharedSaver;
    let threads: Threads;
    let id: string;
    beforeAll(async () => {
      saver = await open();
      threads = openThreads(saver);
      id = await richThread(saver);
    });
    afterAll(() => saver.close());

    it("a thread is the same after a way through memory and back", async () => {
      const lines = await linesOf(threads.export(id));
      expect(lines.every((line) => !line.includes("\n") && typeof JSON.parse(line) === "object")).toBe(true);
      await using memory = new SharedMemorySaver();
      const elsewhere = openThreads(memory);
      expect(await elsewhere.import(lines)).toBe(id);
      expect(await linesOf(elsewhere.export(id))).toEqual(lines);
      const back = newName();
      expect(await threads.import(elsewhere.export(id), { as: back })).toBe(back);
      expect(await tuplesOf(saver, back)).toEqual(await tuplesOf(saver, id));
      const { threadId: _, createdAt: __, ...facts } = await threads.show(id);
      expect(await threads.show(back)).toMatchObject(facts);
      const [image] = await listImages(saver, back);
      expect([await image?.before(), await image?.after()]).toEqual(["old", undefined]);
      expect(
        (await threads.list({ limit: 1000 })).threads.filter((t) => t.threadId.includes("unfinished")),
      ).toEqual([]);
    });

    it("an existing thread is not overwritten", async () => {
      const lines = await linesOf(threads.export(id));
      await expect(threads.import(lines)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
    });

    it("a file of a newer version is refused", async () => {
      const header = { format: "deepwright-thread", version: 2, threadId: "x", facts: {} };
      await expect(threads.import([JSON.stringify(header)])).rejects.toMatchObject({
        code: "STORAGE_TOO_NEW",
      });
    });

    it.each(DAMAGE)("%s is refused and leaves nothing behind", async (_, damage, words) => {
      const lines = (await linesOf(threads.export(id))).map((line) => JSON.parse(line) as Line);
      const damaged = damage(lines).map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
      const before = (await threads.list({ limit: 1000 })).threads;
      const refused = threads.import(damaged, { as: newName() });
      await expect(refused).rejects.toMatchObject({ code: "INVALID_INPUT" });
      await expect(refused).rejects.toThrow(words);
      expect((await threads.list({ limit: 1000 })).threads).toEqual(before);
    });

    it("copyThreads brings everything over, tells how far it is, and can be repeated", async () => {
      await using memory = new SharedMemorySaver();
      const told: string[] = [];
      const first = await copyThreads(saver, memory, {
        onProgress: ({ threadId, result }) => told.push(`${threadId} ${result}`),
      });
      expect(first.copied).toBe(told.length);
      expect(first.existing).toEqual([]);
      expect(told).toContain(`${id} copied`);
      expect(await tuplesOf(memory, id)).toEqual(await tuplesOf(saver, id));
      const ids = async (of: SharedSaver) =>
        (await openThreads(of).list({ limit: 1000 })).threads.map(({ threadId }) => threadId);
      expect(await ids(memory)).toEqual(await ids(saver));
      const second = await copyThreads(saver, memory);
      expect(second).toEqual({ copied: 0, existing: await ids(saver) });
    });
  });
}
