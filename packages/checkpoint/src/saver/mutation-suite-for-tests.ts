import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import type { Checkpoint, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesReducer } from "../../../core/src/backends/state/files-value.ts";
import { type Messages, messagesReducer, wholeList } from "../../../core/src/loop/messages/messages.ts";
import { copyOf, describeValue } from "./describe-for-tests.ts";
import { type Mutation, mutate } from "./mutate-for-tests.ts";
import { holds } from "./property-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import { anyEdit, checkpointOf, EMPTY, edited, metadataOf, type State, stateOf } from "./states-for-tests.ts";
import { anyText, anyValue } from "./values-for-tests.ts";

const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({ part: fc.nat(), way: fc.nat({ max: 12 }), place: fc.nat({ max: 300 }), value: anyValue }),
  { minLength: 1, maxLength: 6 },
);

const step = fc.record({
  how: fc.constantFrom("read", "same objects", "same objects, without waiting"),
  edits: fc.array(anyEdit, { maxLength: 2 }),
  mutations,
});

let thread = 0;

/** A thread of its own, and what it must hold. */
class Story {
  private readonly expected: [string, string][] = [];
  private readonly name = `story-${++thread}`;

  constructor(private readonly saver: SharedSaver) {}

  /** Returns before it is stored. */
  put(checkpoint: Checkpoint): Promise<unknown> {
    const before = this.expected.at(-1)?.[0];
    this.expected.push([checkpoint.id, describeValue(checkpoint.channel_values)]);
    return this.saver.put(this.config(before), checkpoint, metadataOf());
  }

  async read(): Promise<CheckpointTuple> {
    return (await this.saver.getTuple(this.config()))!;
  }

  /** All that was put, or only what was put at these places. */
  async check(places = [...this.expected.keys()]): Promise<void> {
    for (const [place, [id, values]] of this.expected.entries()) {
      if (!places.includes(place)) continue;
      const tuple = await this.saver.getTuple(this.config(id));
      expect(describeValue(tuple?.checkpoint.channel_values)).toBe(values);
    }
    await this.saver.deleteThread(this.name);
  }

  private config(checkpoint_id?: string) {
    return {
      configurable: { thread_id: this.name, checkpoint_ns: "", ...(checkpoint_id && { checkpoint_id }) },
    };
  }
}

/** Values from a read may be edited in place; the stored value stays, and a write stores the edited one. */
export function mutationSuite({ open, runs }: Subject): void {
  describe("values edited in place", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    test("values that were read or put, edited anywhere and put again are stored as edited", async () => {
      await holds(
        fc.asyncProperty(
          fc.array(anyEdit, { maxLength: 5 }),
          fc.array(step, { maxLength: 5, size: "max" }),
          async (edits, steps) => {
            const story = new Story(saver);
            let checkpoint = checkpointOf(copyOf(edited(EMPTY, edits, false)));
            await story.put(checkpoint);
            for (const { how, edits: more, mutations: changes } of steps) {
              const values = how === "read" ? (await story.read()).checkpoint : checkpoint;
              const pending =
                how === "read" ? undefined : story.put({ ...values, id: checkpointOf(EMPTY).id });
              if (how === "same objects") await pending;
              mutate(values.channel_values, copyOf(changes));
              checkpoint = checkpointOf(edited(stateOf(values), copyOf(more), false));
              await Promise.all([pending, story.put(checkpoint)]);
            }
            await story.check();
          },
        ),
        runs,
      );
    });

    test("what comes into the loop's channels again after an edit in place is stored as edited", async () => {
      await holds(
        fc.asyncProperty(fc.array(loopStep, { minLength: 1, maxLength: 8 }), async (steps) => {
          const story = new Story(saver);
          let state = loopState();
          await story.put(checkpointOf(state));
          for (const each of steps) {
            state = each.restart ? cold((await story.read()).checkpoint) : state;
            state = loopStepped(state, each);
            await story.put(checkpointOf(state));
          }
          await story.check();
        }),
        runs,
      );
    });

    test("an element that was edited and came in elsewhere is stored as edited here, too", async () => {
      const story = new Story(saver);
      const state = loopState();
      await story.put(checkpointOf(state));
      const shared = state.messages[3] as BaseMessage;
      shared.content = "edited by another thread's run";
      messagesReducer(undefined, [shared]);
      await story.put(checkpointOf(state));
      const [path, file] = Object.entries(state.files)[3] as [string, { content: string }];
      file.content = "edited as well";
      filesReducer(undefined, { [path]: file } as never);
      await story.put(checkpointOf(state));
      await story.check([1, 2]);
    });

    test("reads share nothing with each other or with storage", async () => {
      await holds(
        fc.asyncProperty(fc.array(anyEdit, { maxLength: 5 }), mutations, async (edits, changes) => {
          const story = new Story(saver);
          await story.put(checkpointOf(edited(EMPTY, edits, true)));
          const [first, second] = [await story.read(), await story.read()];
          const before = describeValue(second);
          mutate(first, copyOf(changes));
          expect(describeValue(second)).toBe(before);
          await story.check();
        }),
        runs,
      );
    });

    test("equal messages, files and texts of one read are separate objects", async () => {
      const twin = () => new AIMessage({ id: "same", content: [{ type: "text", text: "x".repeat(3_000) }] });
      const shared = { content: "y".repeat(3_000), tags: ["a"] };
      const list = [shared, shared, { ...shared }];
      const state = {
        ...EMPTY,
        messages: [twin(), twin()],
        files: { "/a": shared, "/b": shared },
        other: { list },
      };
      const story = new Story(saver);
      await story.put(checkpointOf(state));
      const { messages, files, list: found } = (await story.read()).checkpoint.channel_values as any;
      expect(messages[0]).not.toBe(messages[1]);
      expect(messages[0].content).not.toBe(messages[1].content);
      expect(files["/a"]).not.toBe(files["/b"]);
      expect(files["/a"].tags).not.toBe(files["/b"].tags);
      expect(found[0]).not.toBe(found[1]);
      found[0].tags.push("b");
      expect(found[1].tags).toEqual(["a"]);
      await story.check();
    });

    test("a listing's tuples share nothing either", async () => {
      const story = new Story(saver);
      const state = { ...EMPTY, messages: [new HumanMessage({ id: "1", content: "x".repeat(2_000) })] };
      await story.put(checkpointOf(state));
      await story.put(checkpointOf(state));
      const tuples: CheckpointTuple[] = [];
      const { configurable } = (await story.read()).config;
      const all = { configurable: { thread_id: configurable?.thread_id } };
      for await (const tuple of saver.list(all)) tuples.push(tuple);
      const [first, second] = tuples.map(({ checkpoint }) => (checkpoint.channel_values.messages as any)[0]);
      first.content = "changed";
      expect(second.content).toBe("x".repeat(2_000));
      await story.check();
    });

    test("what a caller changes after calling put or putWrites is not stored", async () => {
      const config = { configurable: { thread_id: "not-awaited", checkpoint_ns: "" } };
      const message = new HumanMessage({ id: "1", content: "before" });
      const file = { content: "before" };
      const checkpoint = checkpointOf({ ...EMPTY, messages: [message], files: { "/a": file } });
      const metadata = metadataOf(1, { tags: ["before"] });
      const put = saver.put(config, checkpoint, metadata);
      const place = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
      const value = { text: ["before"] };
      const writes = saver.putWrites(place, [["channel", value]], "task");
      message.content = "after";
      file.content = "after";
      (metadata as any).tags[0] = "after";
      value.text[0] = "after";
      checkpoint.channel_values.more = 1;
      checkpoint.channel_versions.messages = 99;
      await Promise.all([put, writes]);
      const tuple = await saver.getTuple(config);
      expect(describeValue(tuple)).not.toContain("after");
      expect(tuple?.checkpoint.channel_values).not.toHaveProperty("more");
      expect(tuple?.checkpoint.channel_versions.messages).toBe(1);
    });
  });
}

/** One superstep of a loop: what comes in, some of it objects that were in the channels before. */
const loopStep = fc.record({
  restart: fc.boolean(),
  append: fc.nat({ max: 20 }),
  again: fc.array(fc.tuple(fc.nat(), anyText), { maxLength: 3 }),
  remove: fc.constantFrom("none", "first", "last"),
  files: fc.array(fc.tuple(fc.nat({ max: 90 }), anyText), { maxLength: 3 }),
  filesAgain: fc.array(fc.tuple(fc.nat(), anyText), { maxLength: 2 }),
  unlink: fc.option(fc.nat({ max: 90 }), { nil: undefined }),
});

type LoopStep = typeof loopStep extends fc.Arbitrary<infer T> ? T : never;

let made = 0;
function message(text: string): BaseMessage {
  made += 1;
  return made % 2 === 0
    ? new HumanMessage({ id: `m-${made}`, content: text })
    : new AIMessage({
        id: `m-${made}`,
        content: [
          { type: "text", text: `${text} and more than a few words, so that it is an object of its own` },
        ],
      });
}

function loopState(): State {
  const messages = messagesReducer(
    undefined,
    Array.from({ length: 35 }, (_, i) => message(`first ${i}`)),
  );
  const paths = Array.from({ length: 80 }, (_, i): [string, { content: string }] => [
    `/f-${i}`,
    { content: `file ${i}` },
  ]);
  return { ...EMPTY, messages, files: filesReducer(undefined, Object.fromEntries(paths) as never) };
}

/** As the channels take a checkpoint in. */
function cold(checkpoint: Checkpoint): State {
  const { messages, files, ...rest } = stateOf(checkpoint);
  return {
    ...rest,
    messages: wholeList(messages as Messages),
    files: filesReducer(undefined, files as never),
  };
}

function loopStepped(state: State, each: LoopStep): State {
  const { messages, files } = state;
  const again = each.again.map(([place, text]) => {
    const old = messages[place % messages.length] as BaseMessage;
    old.content =
      typeof old.content === "string" ? `${old.content} ${text}` : [...old.content, { type: "text", text }];
    return old;
  });
  const added = Array.from({ length: each.append }, (_, i) => message(`more ${i}`));
  const paths = Object.keys(files);
  const changes: Record<string, unknown> = Object.fromEntries(
    each.files.map(([i, content]) => [`/f-${i}`, { content }]),
  );
  for (const [place, content] of each.filesAgain) {
    const path = paths[place % paths.length] as string;
    const file = files[path] as { content: string };
    file.content = content;
    changes[path] = file;
  }
  if (each.unlink !== undefined) changes[`/f-${each.unlink}`] = null;
  const list = messagesReducer(messages as Messages, [...again, ...added]);
  const gone = list.at(each.remove === "last" ? -1 : 1)?.id as string;
  const shorter = each.remove === "none" ? list : messagesReducer(list, [new RemoveMessage({ id: gone })]);
  return { ...state, messages: shorter, files: filesReducer(files as never, changes as never) };
}
