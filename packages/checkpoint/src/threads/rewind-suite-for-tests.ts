/** Rewinding and before-images in every storage. For tests only. */
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { listImages, recordImage } from "./images.ts";
import { openThreads } from "./open-threads.ts";
import { file, newName, type Texts, ThreadMaker, textsAt } from "./thread-for-tests.ts";
import type { Threads } from "./threads.ts";

interface Edit {
  readonly by: "loop" | "update" | "input";
  readonly path: string;
  /** `undefined` deletes. */
  readonly text: string | undefined;
}

const edits = fc.array(
  fc.record({
    by: fc.constantFrom("loop", "loop", "update", "input"),
    path: fc.constantFrom("/a", "/b", "/c", "/d", "/e"),
    text: fc.option(fc.constantFrom("one", "two", "long ".repeat(1_000)), { nil: undefined }),
  }) as fc.Arbitrary<Edit>,
  { minLength: 1, maxLength: 8 },
);

function edited(files: Texts, { path, text }: Edit): Texts {
  const { [path]: _, ...rest } = files;
  return text === undefined ? rest : { ...rest, [path]: text };
}

function differing(before: Texts, after: Texts): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

/** Expected files of a rewind: the target, except what a person changed since, which stays as at the head. */
function expected(history: readonly Texts[], made: readonly Edit[], target: number): Texts {
  const head = history.at(-1) as Texts;
  let files = history[target] as Texts;
  for (const [i, { by, path }] of made.entries()) {
    const isChange = history[i]?.[path] !== history[i + 1]?.[path];
    if (i < target || by === "loop" || !isChange) continue;
    files = edited(files, { by, path, text: head[path] });
  }
  return files;
}

export function rewindSuite(name: string, open: () => Promise<SharedSaver>): void {
  describe(`rewinding in ${name}`, () => {
    let saver: SharedSaver;
    let threads: Threads;
    beforeAll(async () => {
      saver = await open();
      threads = openThreads(saver);
    });
    afterAll(() => saver.close());

    it("whatever was edited, people's edits stay, the rest is as it was, and it can be undone", async () => {
      const property = fc.asyncProperty(edits, fc.nat(), async (made, place) => {
        const id = newName();
        const maker = new ThreadMaker(saver, id);
        const history: Texts[] = [{ "/a": "first", "/still": "untouched" }];
        await maker.put("input", history[0] as Texts);
        for (const edit of made) {
          history.push(edited(history.at(-1) as Texts, edit));
          await maker.put(edit.by, history.at(-1) as Texts);
        }
        const { steps } = await threads.show(id);
        expect(steps.map(({ changedFiles }) => changedFiles)).toEqual(
          history.map((files, i) => differing(history[i - 1] ?? {}, files)),
        );
        const target = place % history.length;
        const changes = await threads.diff(id, target - 1, { to: history.length - 2 });
        expect(changes.map(({ path }) => path)).toEqual(
          differing(history[target] as Texts, history.at(-1) as Texts),
        );
        const tried = await threads.rewind(id, target - 1, { dryRun: true });
        expect(await textsAt(saver, id)).toEqual(history.at(-1));
        const done = await threads.rewind(id, target - 1);
        expect({ ...done, checkpointId: undefined }).toEqual(tried);
        const files = expected(history, made, target);
        expect(await textsAt(saver, id)).toEqual(files);
        const kept = done.conflicts.map(({ path }) => path);
        for (const path of ["/a", "/b", "/c", "/d", "/e"])
          expect(kept.includes(path)).toBe(files[path] !== history[target]?.[path]);
        await threads.rewind(id, done.previousId);
        expect(await textsAt(saver, id)).toEqual(history.at(-1));
        await threads.rewind(id, done.checkpointId as string);
        expect(await textsAt(saver, id)).toEqual(files);
        await threads.delete(id);
      });
      await fc.assert(property, { numRuns: sized(12, 40) });
    });

    it("a person's edit that one rewind kept is kept by the next", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      for (const text of ["first", "second", "third"])
        await maker.put("loop", { "/a": text, "/mine": "old" });
      await maker.put("update", { "/a": "third", "/mine": "new" });
      await threads.rewind(id, 0);
      const { conflicts } = await threads.rewind(id, -1);
      expect(conflicts).toEqual([{ path: "/mine", reason: expect.stringContaining("changed since") }]);
      expect(await textsAt(saver, id)).toEqual({ "/a": "first", "/mine": "new" });
    });

    it("an agent goes on from where it was taken back to, and messages and todos go back too", async () => {
      const id = newName();
      const config = { configurable: { thread_id: id } };
      const todos = [{ content: "Later", status: "pending" }];
      const script = [
        say("Hello."),
        callTool("write_file", { file_path: "/agent.md", content: "draft" }),
        callTool("write_todos", { todos }),
        say("Written."),
        say("Going on."),
      ];
      const agent = createDeepAgent({ model: scriptedModel(script), checkpointer: saver });
      await agent.invoke({ messages: "Hi" }, config);
      const before = (await threads.show(id)).steps.at(-1)?.step as number;
      await agent.invoke({ messages: "Write", files: { "/given.md": file("given") as never } }, config);
      await agent.updateState(config, { files: { "/mine.md": file("mine") } });
      const old = await agent.getState(config);
      const result = await threads.rewind(id, before);
      expect(result.restored).toMatchObject([{ path: "/agent.md", kind: "deleted", before: "draft" }]);
      expect(result.conflicts.map(({ path }) => path)).toEqual(["/given.md", "/mine.md"]);
      const now = await agent.getState(config);
      expect(now.values.messages).toHaveLength(2);
      expect(now.values.todos ?? []).toEqual([]);
      expect(now.next).toEqual([]);
      expect(now.config.configurable?.checkpoint_id).toBe(result.checkpointId);
      expect(now.metadata).toMatchObject({
        source: "fork",
        step: (old.metadata?.step as number) + 1,
        parents: {},
      });
      await agent.invoke({ messages: "Next" }, config);
      const { steps } = await threads.show(id);
      expect(steps.at(-1)?.messageCount).toBe(4);
      expect(steps.map(({ step }) => step)).toEqual([...steps.map(({ step }) => step)].sort((a, b) => a - b));
      await threads.rewind(id, result.previousId);
      const { values } = await agent.getState(config);
      expect(values.messages).toEqual(old.values.messages);
      expect(values.todos).toEqual(todos);
      expect(Object.keys(values.files).sort()).toEqual(["/agent.md", "/given.md", "/mine.md"]);
    });

    it("a question that was open at the old head is not open at the new one", async () => {
      const id = newName();
      const config = { configurable: { thread_id: id } };
      const script = [say("Hello."), callTool("write_file", { file_path: "/x", content: "x" })];
      const agent = createDeepAgent({
        model: scriptedModel(script),
        checkpointer: saver,
        interruptOn: { write_file: true },
      });
      await agent.invoke({ messages: "Hi" }, config);
      await agent.invoke({ messages: "Write" }, config);
      expect((await threads.show(id)).waiting).toBe(true);
      await threads.rewind(id, 1);
      expect(await threads.show(id)).toMatchObject({ waiting: false, messageCount: 2 });
      expect((await agent.getState(config)).tasks).toEqual([]);
    });

    it("under another's claim nothing is rewound", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      await maker.put("input", { "/a": "1" });
      await maker.put("loop", { "/a": "2" });
      const claim = await saver.claimThread(id, { mode: "refuse" });
      await expect(threads.rewind(id, -1)).rejects.toMatchObject({ code: "THREAD_BUSY" });
      expect((await threads.rewind(id, -1, { dryRun: true })).restored).toHaveLength(1);
      await claim.release();
      await threads.rewind(id, -1);
      expect(await textsAt(saver, id)).toEqual({ "/a": "1" });
    });

    it("before-images come back as recorded, show in the diff of their step, and go with the thread", async () => {
      const id = newName();
      const maker = new ThreadMaker(saver, id);
      await maker.put("input", {});
      const start = (await threads.show(id)).steps.at(-1)?.checkpointId as string;
      const [text, bytes] = ["line\n".repeat(4_000), new Uint8Array([0, 255, 1])];
      const image = { checkpointId: start, place: "/repo" };
      await recordImage(saver, id, { ...image, path: "/new", before: undefined, after: bytes });
      await recordImage(saver, id, { ...image, path: "/x", before: text, after: "" });
      await recordImage(saver, id, { ...image, path: "/x", before: "", after: `${text}end` });
      await maker.put("loop", { "/x": "in the state" });
      const images = await listImages(saver, id);
      expect(images.map(({ place, path, checkpointId }) => [place, path, checkpointId])).toEqual([
        ["/repo", "/new", start],
        ["/repo", "/x", start],
        ["/repo", "/x", start],
      ]);
      expect(await images[0]?.before()).toBeUndefined();
      expect(await images[0]?.after()).toEqual(bytes);
      expect(await images[1]?.before()).toBe(text);
      expect(await images[1]?.after()).toBe("");
      expect(await threads.diff(id, 0)).toMatchObject([
        { path: "/x", kind: "created", after: "in the state" },
        { place: "/repo", path: "/new", kind: "created", after: bytes, patch: undefined },
        { place: "/repo", path: "/x", kind: "changed", before: text, after: `${text}end` },
      ]);
      expect(await threads.diff(id, -1)).toEqual([]);
      await threads.prune({ threadId: id, olderThan: new Date(Date.now() + 1_000) });
      expect(await listImages(saver, id)).toEqual([]);
      await recordImage(saver, id, { ...image, path: "/x", before: text, after: undefined });
      await threads.delete(id);
      expect(await listImages(saver, id)).toEqual([]);
    });
  });
}
