/** Tests of `openThreads` for every storage. For tests only. */
import { HumanMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { openThreads } from "./open-threads.ts";
import { rewindSuite } from "./rewind-suite-for-tests.ts";
import { file, linesOf, newName, ThreadMaker, textsAt } from "./thread-for-tests.ts";
import type { Threads } from "./threads.ts";
import { transferSuite } from "./transfer-suite-for-tests.ts";

function agentOn(saver: SharedSaver, script: Script, options: object = {}) {
  return createDeepAgent({ model: scriptedModel(script), checkpointer: saver, ...options });
}

const write = (path: string, content: string) => callTool("write_file", { file_path: path, content });

export function threadsSuite(name: string, open: () => Promise<SharedSaver>): void {
  rewindSuite(name, open);
  transferSuite(name, open);
  describe(`threads in ${name}`, () => {
    let saver: SharedSaver;
    let threads: Threads;
    beforeAll(async () => {
      saver = await open();
      threads = openThreads(saver);
    });
    afterAll(() => saver.close());

    it("show tells who said and changed what at each step", async () => {
      const id = newName();
      const config = { configurable: { thread_id: id }, metadata: { cwd: "/work", title: "A run" } };
      const agent = agentOn(saver, [write("/b.txt", "b"), say("Done.")]);
      await agent.invoke({ messages: "Write b", files: { "/a.txt": file("a") as never } }, config);
      const details = await threads.show(id);
      expect(details).toMatchObject({
        threadId: id,
        title: "A run",
        cwd: "/work",
        firstPrompt: "Write b",
        messageCount: 4,
        waiting: false,
      });
      const told = details.steps.map(({ step, source, messageCount, changedFiles, summary }) => [
        step,
        source,
        messageCount,
        changedFiles.join(),
        summary.split(" ").slice(0, 2).join(" "),
      ]);
      expect(told).toEqual([
        [-1, "input", 0, "", ""],
        [0, "loop", 1, "/a.txt", "Write b"],
        [1, "loop", 2, "", "calls write_file"],
        [2, "loop", 3, "/b.txt", expect.any(String)],
        [3, "loop", 4, "", "Done."],
      ]);
      expect(Date.parse(details.steps[0]?.at as string)).toBeGreaterThan(0);
    });

    it("a thread that asks a person is waiting", async () => {
      const id = newName();
      const agent = agentOn(saver, [write("/b.txt", "b")], { interruptOn: { write_file: true } });
      await agent.invoke({ messages: "Write" }, { configurable: { thread_id: id } });
      expect((await threads.show(id)).waiting).toBe(true);
    });

    it("diff gives contents and patches of a step, and of all steps between two", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`/many/${i}`, `text ${i}`]));
      await maker.put("input", { ...many, "/a": "one\ntwo\n", "/gone": "x" });
      await maker.put("loop", { ...many, "/a": "one\n2\n", "/new": "n" });
      await maker.put("loop", { ...many, "/a": "one\n2\n", "/new": "nn" });
      expect(await threads.diff(id, 0)).toEqual([
        {
          path: "/a",
          kind: "changed",
          before: "one\ntwo\n",
          after: "one\n2\n",
          patch: "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        },
        expect.objectContaining({ path: "/gone", kind: "deleted", before: "x", after: undefined }),
        expect.objectContaining({ path: "/new", kind: "created", before: undefined, after: "n" }),
      ]);
      expect((await threads.diff(id, 1)).map(({ path }) => path)).toEqual(["/new"]);
      expect((await threads.diff(id, -1)).length).toBe(302);
      expect((await threads.diff(id, -1, { to: 1 })).map(({ path }) => path)).toEqual([
        "/a",
        "/gone",
        "/new",
      ]);
      expect((await threads.diff(id, 1, { to: -1 })).map(({ kind }) => kind)).toEqual([
        "changed",
        "created",
        "deleted",
      ]);
    });

    it("bytes come as bytes, without a patch, and old lists of lines as text", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      const image = { content: "iVBORw0KGgo=", mimeType: "image/png" };
      await maker.put("input", {}, { files: { "/old": { content: ["a", "b"] }, "/i": image } });
      await maker.put(
        "loop",
        {},
        { files: { "/old": { content: "a\nb" }, "/i": { ...image, content: "" } } },
      );
      const changes = await threads.diff(id, 0);
      expect(changes).toHaveLength(1);
      expect(changes[0]).toMatchObject({ path: "/i", kind: "changed", patch: undefined });
      expect(Buffer.from(changes[0]?.before as Uint8Array).toString("hex")).toBe("89504e470d0a1a0a");
    });

    it("unknown threads, steps and cursors are said, with what there is", async () => {
      const id = newName();
      await new ThreadMaker(saver, id).put("input", {});
      const missing = { code: "THREAD_NOT_FOUND" };
      await expect(threads.show("nobody")).rejects.toMatchObject(missing);
      await expect(threads.delete("nobody")).rejects.toMatchObject(missing);
      await expect(threads.copy("nobody", "x")).rejects.toMatchObject(missing);
      await expect(threads.rename("nobody", "x")).rejects.toMatchObject(missing);
      await expect(threads.rewind("nobody", 0)).rejects.toMatchObject(missing);
      await expect(threads.prune({ threadId: "nobody", keepLatest: 1 })).rejects.toMatchObject(missing);
      await expect(linesOf(threads.export("nobody"))).rejects.toMatchObject(missing);
      await expect(threads.diff(id, 7)).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("has no step 7. Its steps are -1."),
      });
      await expect(threads.diff(id, "no-such")).rejects.toMatchObject({ code: "INVALID_INPUT" });
      await expect(threads.list({ after: "%%%" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
      await expect(threads.list({ limit: 0 })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    });

    it("pages of the list join to all threads, newest first, of one directory if asked", async () => {
      const cwd = `/only/${newName()}`;
      const ids = [newName(), newName(), newName(), newName(), newName()];
      for (const id of ids)
        await agentOn(saver, [say("x")]).invoke(
          { messages: "Hi" },
          { configurable: { thread_id: id }, metadata: { cwd } },
        );
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await threads.list({ limit: 2, cwd, ...(after ? { after } : {}) });
        expect(page.threads.length).toBeLessThanOrEqual(2);
        found.push(...page.threads.map(({ threadId }) => threadId));
        after = page.next;
      } while (after);
      expect(new Set(found)).toEqual(new Set(ids));
      expect(found).toHaveLength(ids.length);
      const { threads: all } = await threads.list({ cwd });
      expect(all.map(({ updatedAt }) => updatedAt)).toEqual(
        all.map(({ updatedAt }) => updatedAt).sort((left, right) => right - left),
      );
    });

    it("a new title stays through the next run", async () => {
      const id = newName();
      const config = { configurable: { thread_id: id } };
      await agentOn(saver, [say("x")]).invoke({ messages: "Hi" }, config);
      await threads.rename(id, " New\n title ");
      await agentOn(saver, [say("x")]).invoke({ messages: "Again" }, config);
      expect((await threads.show(id)).title).toBe("New title");
      await expect(threads.rename(id, "  ")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    });

    it("copy and delete are independent of one another", async () => {
      const [id, copy] = [newName(), newName()];
      await new ThreadMaker(saver, id).put("input", { "/a": "a".repeat(5_000) });
      await threads.copy(id, copy);
      await expect(threads.copy(id, copy)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
      await threads.delete(id);
      await expect(threads.show(id)).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
      expect(await textsAt(saver, copy)).toEqual({ "/a": "a".repeat(5_000) });
    });

    it("what was pruned is no step any more, and the rest still is", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      for (let i = 0; i < 5; i += 1) await maker.put("loop", { "/a": String(i) });
      await threads.prune({ threadId: id, keepLatest: 2 });
      const { steps } = await threads.show(id);
      expect(steps.map(({ step, changedFiles }) => [step, changedFiles.join()])).toEqual([
        [2, ""],
        [3, "/a"],
      ]);
      expect(await threads.diff(id, 3)).toMatchObject([{ before: "3", after: "4" }]);
      await expect(threads.diff(id, 2)).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("pruned"),
      });
      await expect(threads.rewind(id, 0)).rejects.toThrow("Its steps are 2 to 3.");
    });

    it("a step of a long conversation names the message it added", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      const messages = Array.from({ length: 2_500 }, (_, i) => new HumanMessage(`message ${i}`));
      await maker.put("input", {}, { messages: messages.slice(0, 2_400) });
      for (let i = 2_401; i <= 2_500; i += 33)
        await maker.put("update", {}, { messages: messages.slice(0, i) });
      const { steps } = await threads.show(id);
      expect(steps.map(({ messageCount }) => messageCount)).toEqual([2_400, 2_401, 2_434, 2_467, 2_500]);
      expect(steps.at(-1)?.summary).toBe("message 2467");
    });
  });
}
