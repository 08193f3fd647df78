import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { cameIn, forSavers, madeByLoop } from "deepwright/channel-values";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { describeTuple, describeValue } from "./describe-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf, type State } from "./states-for-tests.ts";
import { LOOK_ALIKES, MESSAGE_CLASSES } from "./values-for-tests.ts";

const MB = 1_048_576;
const LARGE_MB = sized(20, 100);
const STEPS = sized(300, 1_000);

/** Texts no careless layer lets through as they are. */
const HARD_TEXTS = {
  NUL: "a\0b",
  "a lone high surrogate": "a\ud83db",
  "a lone low surrogate": "\udc00",
  "surrogates the wrong way round": "\udc00\ud800",
  "a long text with a lone surrogate": `${"x".repeat(20_000)}\ud800${"y".repeat(20_000)}`,
  "a long text with NUL": `${"x".repeat(20_000)}\0${"y".repeat(20_000)}`,
  "invalid UTF-8 read as latin1": Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]).toString("latin1"),
  "all code units": Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join(""),
  "a byte order mark": "\ufefftext",
  emoji: "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301",
};

/** Any value of a tool, a model or a file is stored and read back unchanged. */
export function robustnessSuite({ open }: Subject): void {
  describe("hard values", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    const config = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: "" } });

    async function values(thread: string): Promise<Record<string, any>> {
      const tuple = await saver.getTuple(config(thread));
      return tuple?.checkpoint.channel_values ?? {};
    }

    async function put(value: unknown): Promise<void> {
      await saver.put(config("trip"), checkpointOf({ ...EMPTY, other: { value } }), metadataOf());
    }

    async function roundTrip(value: unknown): Promise<unknown> {
      await put(value);
      return (await values("trip")).value;
    }

    test.each(Object.entries(HARD_TEXTS))(
      "R-33 %s comes back from messages, keys, metadata, channel names and writes",
      async (_, text) => {
        const state: State = {
          messages: [
            new HumanMessage({ id: "1", content: text }),
            new AIMessage({
              id: "2",
              content: "",
              tool_calls: [{ id: "c", name: text, args: { [text]: text } }],
            }),
            new ToolMessage({ id: "3", content: text, tool_call_id: "c", artifact: { [text]: [text] } }),
          ],
          files: { [text]: { content: text }, "/a": { content: [text] } },
          notes: text,
          other: { [text]: text, bytes: Buffer.from(text, "utf16le") },
        };
        const checkpoint = checkpointOf(state);
        const metadata = metadataOf(1, { [text]: text, nested: { [text]: [text] } });
        await saver.put(config("R-33"), checkpoint, metadata);
        const place = { configurable: { ...config("R-33").configurable, checkpoint_id: checkpoint.id } };
        await saver.putWrites(
          place,
          [
            [text, text],
            ["__error__", { message: text }],
          ],
          "task",
        );
        const tuple = await saver.getTuple(config("R-33"));
        expect(describeTuple(tuple)).toEqual(
          describeTuple({
            config: place,
            checkpoint,
            metadata,
            pendingWrites: [
              ["task", "__error__", { message: text }],
              ["task", text, text],
            ],
          }),
        );
        const found = [];
        for await (const each of saver.list(config("R-33"), { filter: { [text]: text } })) found.push(each);
        expect(found).toHaveLength(1);
        await saver.deleteThread("R-33");
      },
    );

    test("R-33 every kind of binary comes back byte by byte", async () => {
      const all = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) & 255);
      const kinds = [
        all,
        all.subarray(3, 40),
        Buffer.from(all),
        new Uint8Array(0),
        new Float32Array([1.5, Number.NaN]),
      ];
      expect(describeValue(await roundTrip(kinds))).toBe(describeValue(kinds));
      expect(describeValue(await roundTrip(new Uint8Array(0)))).toBe(describeValue(new Uint8Array(0)));
    });

    test.each(LOOK_ALIKES.map((value) => [JSON.stringify(value), value]))(
      "%s stays data",
      async (_, value) => {
        expect(describeValue(await roundTrip(value))).toBe(describeValue(value));
        expect(describeValue(await roundTrip([[value], value]))).toBe(describeValue([[value], value]));
        const many = Array.from({ length: 100 }, () => value);
        expect(describeValue(await roundTrip({ many }))).toBe(describeValue({ many }));
      },
    );

    test.each(Object.entries(MESSAGE_CLASSES))(
      "a message of the class %s comes back as one",
      async (_, build) => {
        const fields = {
          id: "m",
          content: "hello",
          name: "n",
          additional_kwargs: { a: 1 },
          response_metadata: { b: 2 },
        };
        const calls = [
          { id: "c", name: "ls", args: { path: "/" }, type: "tool_call" },
          { id: "d", name: "ls", args: {}, type: "tool_call" },
        ];
        const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
        const message = build({ ...fields }, calls, usage, { artifact: new Map([[1, 2]]) });
        const found = (await roundTrip(message)) as BaseMessage;
        expect(describeValue(found)).toBe(describeValue(message));
        expect(Object.getPrototypeOf(found)).toBe(Object.getPrototypeOf(message));
        expect(found.text).toBe(message.text);
        expect(found.contentBlocks).toEqual(message.contentBlocks);
      },
    );

    test.each<[string, unknown, unknown]>([
      ["functions", { a: () => 1, b: 2 }, { b: 2 }],
      ["only a function", { a: () => 1 }, {}],
      ["symbols", { a: Symbol("x"), b: [Symbol("y")] }, { b: [null] }],
      ["a list of functions", [() => 1], [null]],
      [
        "a class of one's own",
        new (class Point {
          x = 1;
          #y = 2;
          get y() {
            return this.#y;
          }
        })(),
        { x: 1 },
      ],
      ["something with toJSON", { toJSON: () => ({ a: 1 }) }, { a: 1 }],
      ["a URL", new URL("http://a/b"), "http://a/b"],
    ])("%s: what is no data is left out as JSON does", async (_, value, expected) => {
      expect(await roundTrip(value)).toEqual(expected);
      expect(await roundTrip({ inner: value })).toEqual({ inner: expected });
    });

    test("of what a task writes twice the first counts, except on special channels", async () => {
      const checkpoint = checkpointOf(EMPTY);
      await saver.put(config("twice"), checkpoint, metadataOf());
      const place = { configurable: { ...config("twice").configurable, checkpoint_id: checkpoint.id } };
      for (const text of ["first", "second"])
        await saver.putWrites(
          place,
          [
            ["a", text],
            ["__resume__", text],
            ["b", text],
          ],
          "task",
        );
      expect((await saver.getTuple(config("twice")))?.pendingWrites).toEqual([
        ["task", "__resume__", "second"],
        ["task", "a", "first"],
        ["task", "b", "first"],
      ]);
    });

    test("a list with holes keeps its length", async () => {
      const list: unknown[] = [1];
      list[3] = 4;
      const found = (await roundTrip(list)) as unknown[];
      expect(found).toHaveLength(4);
      expect([found[0], found[3]]).toEqual([1, 4]);
      expect(await roundTrip({ list })).toEqual({ list: found });
    });

    test("circles are cut where LangGraph cuts them", async () => {
      const circle: Record<string, unknown> = { name: "c", list: [1] };
      circle.self = circle;
      (circle.list as unknown[]).push(circle.list);
      const serializer = new MemorySaver().serde;
      const [type, data] = await serializer.dumpsTyped(circle);
      const theirs = await serializer.loadsTyped(type, data);
      expect(await roundTrip(circle)).toEqual(theirs);
      const wide: unknown[] = Array.from({ length: 100 }, (_, i) => i);
      const around = { wide };
      wide.push(around);
      const numbers = wide.slice(0, 100);
      expect(await roundTrip({ first: around, second: wide })).toEqual({
        first: { wide: [...numbers, "[Circular]"] },
        second: [...numbers, { wide: "[Circular]" }],
      });
      const long: unknown[] = Array.from({ length: 100 }, (_, i) => i);
      long.push({ long });
      const found = (await roundTrip({ long })) as { long: unknown[] };
      expect(JSON.stringify(found)).toContain("[Circular]");
      expect(found.long.slice(0, 100)).toEqual(long.slice(0, 100));
    });

    test("R-36 a value is nested 1,000 deep and comes back, 2,000 to 100,000 deep and is refused", async () => {
      for (const wrap of [
        (inner: unknown) => [inner],
        (inner: unknown) => ({ inner }),
        (inner: unknown) => new Map([[1, inner]]),
      ])
        for (const depth of [1_000, 2_000, 10_000, 100_000]) {
          let value: unknown = "core";
          for (let i = 0; i < depth; i += 1) value = wrap(value);
          const outcome = await roundTrip(value).then(depthOf, (error) => error.code);
          expect(outcome).toBe(depth <= 1_000 ? depth : "VALUE_NOT_STORABLE");
        }
      expect(await roundTrip("still works")).toBe("still works");
    });

    test("R-36 a value of more than 1 GiB is refused, and the thread goes on", async () => {
      const file = { content: "0123456789".repeat(MB) };
      const files = Array.from({ length: 110 }, () => file);
      cameIn(file);
      const refused = { code: "VALUE_NOT_STORABLE" };
      await expect(put(forSavers(files))).rejects.toMatchObject(refused);
      let doubled: unknown = "ten letters";
      for (let i = 0; i < 40; i += 1) doubled = [doubled, doubled];
      await expect(put(doubled)).rejects.toMatchObject(refused);
      let branching: unknown = "x";
      for (let i = 0; i < 12; i += 1) branching = Array.from({ length: 70 }, () => branching);
      await expect(put({ branching })).rejects.toMatchObject(refused);
      expect(await roundTrip([file])).toEqual([file]);
    });

    test(`R-36 a text of ${LARGE_MB} MB comes back`, async () => {
      const text = Array.from({ length: LARGE_MB }, (_, i) => `${i} é`.padEnd(MB, `line of ${i}\n`)).join("");
      await saver.put(config("large"), checkpointOf({ ...EMPTY, notes: text }), metadataOf());
      expect((await values("large")).notes === text).toBe(true);
      await saver.deleteThread("large");
    });

    test(`R-36 ${LARGE_MB} MB in many files come back`, async () => {
      const files = Object.fromEntries(
        Array.from({ length: 10 * LARGE_MB }, (_, i) => [
          `/f-${i}`,
          { content: `${i} `.repeat(25_000).slice(0, 100_000) },
        ]),
      );
      await saver.put(config("many"), checkpointOf({ ...EMPTY, files }), metadataOf());
      const found = (await values("many")).files;
      expect(Object.keys(found)).toEqual(Object.keys(files));
      expect(Object.entries(files).every(([path, { content }]) => found[path].content === content)).toBe(
        true,
      );
      await saver.deleteThread("many");
    });

    test(`R-36 10,000 messages and ${STEPS} steps come back`, async () => {
      const messages = Array.from(
        { length: 10_000 },
        (_, i) => new HumanMessage({ id: `${i}`, content: `message ${i}` }),
      );
      await saver.put(config("long"), checkpointOf({ ...EMPTY, messages }), metadataOf());
      expect(describeValue((await values("long")).messages)).toBe(describeValue(messages));
      const list: BaseMessage[] = [];
      const steps: string[] = [];
      for (let i = 0; i < STEPS; i += 1) {
        list.push(new HumanMessage({ id: `${i}`, content: `step ${i}` }));
        const messages = [...list];
        cameIn(messages.at(-1));
        madeByLoop(messages);
        const checkpoint = checkpointOf({ ...EMPTY, messages }, i);
        const place = { ...config("steps").configurable, ...(i > 0 && { checkpoint_id: steps.at(-1) }) };
        const pending = saver.put({ configurable: place }, checkpoint, metadataOf(i));
        if (i % 20 === 19) await pending;
        steps.push(checkpoint.id);
      }
      const ids: string[] = [];
      for await (const { checkpoint } of saver.list(config("steps"), { limit: 20 })) {
        expect(checkpoint.channel_values.messages).toHaveLength(STEPS - ids.length);
        ids.push(checkpoint.id);
      }
      expect(ids).toHaveLength(20);
      const first = { ...config("steps").configurable, checkpoint_id: steps[99] };
      const tuple = await saver.getTuple({ configurable: first });
      expect(describeValue(tuple?.checkpoint.channel_values.messages)).toBe(
        describeValue(list.slice(0, 100)),
      );
    });
  });
}

function depthOf(value: unknown): number {
  let depth = 0;
  for (let inner = value; typeof inner === "object" && inner !== null; depth += 1)
    inner = inner instanceof Map ? inner.get(1) : Object.values(inner)[0];
  return depth;
}
