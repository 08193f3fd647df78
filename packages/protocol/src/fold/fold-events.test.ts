/** Events written by hand: ends, older forms, nonsense. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyScreen, type FoldedEvent, foldEvent, foldEvents } from "../index.ts";

const fold = (events: Iterable<FoldedEvent>) => foldEvents(emptyScreen, events);

describe("runs that end otherwise", () => {
  const begun: FoldedEvent[] = [
    { id: "1", event: "metadata", data: { run_id: "r", thread_id: "t" } },
    {
      id: "2",
      event: "messages",
      data: [{ type: "AIMessageChunk", id: "m", content: "half a", tool_call_chunks: [] }, {}],
    },
  ];

  test("an error is shown with the status", () => {
    const screen = fold([
      ...begun,
      { id: "3", event: "error", data: { error: "MODEL_QUOTA", message: "no more" } },
      { id: "4", event: "end", data: { status: "error" } },
    ]);
    expect(screen.run).toMatchObject({
      status: "error",
      error: { error: "MODEL_QUOTA", message: "no more" },
    });
    expect(screen.main).toMatchObject({ status: "error", messages: [{ text: "half a", streaming: false }] });
  });

  test("another try of the run drops what the first was writing", () => {
    const screen = fold([
      ...begun,
      { id: "3", event: "metadata", data: { run_id: "r", thread_id: "t", attempt: 2 } },
      {
        id: "4",
        event: "messages",
        data: [{ type: "AIMessageChunk", id: "n", content: "whole", tool_call_chunks: [] }, {}],
      },
    ]);
    expect(screen.main.messages.map(({ text }) => text)).toEqual(["whole"]);
  });

  test.each(["m", "of the agent"])(
    "a server that gives every message one id loses no interrupted answer; the agent stores the next as '%s'",
    (stored) => {
      const piece = (content: string): FoldedEvent => ({
        event: "messages",
        data: [{ type: "AIMessageChunk", id: "m", content, tool_call_chunks: [] }, {}],
      });
      const human = (id: string): FoldedEvent => ({
        event: "steer",
        data: { message: { type: "human", id, content: id } },
      });
      const texts = (events: readonly FoldedEvent[]) => fold(events).main.messages.map(({ text }) => text);
      const events: FoldedEvent[] = [
        ...begun,
        { id: "3", event: "end", data: { status: "interrupted" } },
        human("next"),
        { id: "4", event: "metadata", data: { run_id: "r2", thread_id: "t" } },
        ...[piece("the "), human("steered"), piece("second")],
      ];
      expect(texts(events)).toEqual(["half a", "next", "the second", "steered"]);
      const message = { type: "ai", id: stored, content: "the second" };
      const streamed = events.filter(({ data }) => !JSON.stringify(data).includes("steered"));
      const whole = { event: "updates", data: { model_request: { messages: [message] } } };
      expect(texts([...streamed, { event: "messages", data: [message, {}] }, whole])).toEqual([
        "half a",
        "next",
        "the second",
      ]);
      const values = {
        event: "values",
        data: { messages: [{ type: "human", id: "next", content: "next" }, message] },
      };
      expect(texts([...streamed, values])).toEqual(["next", "the second"]);
    },
  );

  test("a run that was replaced says by which, and steering shows as a message", () => {
    const screen = fold([
      ...begun,
      { id: "3", event: "steer", data: { id: "s", message: { type: "human", id: "s", content: "left!" } } },
      { id: "4", event: "replaced", data: { run_id: "r", by: "r2" } },
      { id: "5", event: "end", data: { status: "interrupted" } },
    ]);
    expect(screen.run).toMatchObject({ status: "interrupted", replacedBy: "r2" });
    expect(screen.main.messages.map(({ text }) => text)).toEqual(["half a", "left!"]);
  });
});

describe("older and other forms", () => {
  test("messages/partial and messages/complete give the same as pieces", () => {
    const message = (content: string) => ({ type: "ai", id: "m", content });
    const screen = fold([
      { event: "metadata", data: { run_id: "r" } },
      {
        event: "messages/metadata",
        data: { m: { metadata: { langgraph_checkpoint_ns: "tools:1|model_request:2" } } },
      },
      { event: "messages/partial", data: [message("hel")] },
      { event: "messages/partial", data: [message("hello")] },
      { event: "messages/complete", data: [message("hello you")] },
      { event: "messages/partial", data: [message("late")] },
    ]);
    expect(screen.subagents["tools:1"]?.messages).toMatchObject([{ text: "hello you", streaming: false }]);
    expect(screen.main.messages).toEqual([]);
  });

  test("pieces of calls find their call by index, and blocks their text and thought", () => {
    const piece = (message: object) => ({
      event: "messages",
      data: [{ type: "AIMessageChunk", id: "m", tool_call_chunks: [], ...message }, {}],
    });
    const screen = fold([
      piece({ content: [{ type: "thinking", thinking: "hm" }] }),
      piece({
        content: [
          { type: "text", text: "so" },
          { type: "image", url: "x" },
        ],
      }),
      piece({ content: "", tool_call_chunks: [{ index: 1, id: "a", name: "one", args: "{" }] }),
      piece({ content: "", tool_call_chunks: [{ index: 2, id: "b", name: "two", args: '{"b":' }] }),
      piece({
        content: "",
        tool_call_chunks: [
          { index: 1, args: "}" },
          { index: 2, args: "1}" },
        ],
      }),
      { event: "messages", data: [{ type: "tool", id: "t", tool_call_id: "b", content: "ok" }, {}] },
    ]);
    expect(screen.main.messages).toMatchObject([
      {
        text: "so",
        reasoning: "hm",
        media: [{ type: "image" }],
        calls: [
          { id: "a", args: {}, status: "running" },
          { id: "b", args: { b: 1 }, status: "done", result: "ok" },
        ],
      },
    ]);
  });

  test("removed messages go", () => {
    const screen = fold([
      { event: "updates", data: { n: { messages: [{ type: "human", id: "a", content: "x" }] } } },
      { event: "updates", data: { n: { messages: [{ type: "human", id: "b", content: "y" }] } } },
      { event: "updates", data: { n: { messages: { type: "remove", id: "a" } } } },
    ]);
    expect(screen.main.messages.map(({ id }) => id)).toEqual(["b"]);
  });
});

test("whatever the data are, nothing is thrown and nothing is polluted", () => {
  const kinds = [
    "metadata",
    "values",
    "updates",
    "messages",
    "messages/partial",
    "messages/metadata",
    "custom",
    "tools",
    "tasks",
    "steer",
    "replaced",
    "error",
    "end",
    "nonsense",
  ];
  const names = [
    "messages",
    "files",
    "todos",
    "__proto__",
    "__interrupt__",
    "id",
    "type",
    "tool_calls",
    "content",
  ];
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, 1, "", "ai", "tool", "human", true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc
        .array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 4 })
        .map((entries) =>
          JSON.parse(`{${entries.map(([n, v]) => `${JSON.stringify(n)}:${JSON.stringify(v)}`)}}`),
        ),
    ),
  }));
  const event = fc.tuple(fc.constantFrom(...kinds), fc.constantFrom("", "|tools:1", "|__proto__"), value);
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), (list) => {
      fold(list.map(([kind, place, data]) => ({ event: kind + place, data })));
      expect(Object.keys(Object.prototype)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("values that are nested deeper than a program can count are folded, and equal parts above stay the same", () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = [value];
    return value;
  };
  for (const event of ["values", "updates", "custom", "tools", "error"]) {
    const data = () => ({ deep: nested(20_000), flat: { a: [1] } });
    const before = foldEvent(emptyScreen, { event, data: data() });
    const after = foldEvent(before, { event, data: data() });
    expect(after.values.flat).toBe(before.values.flat);
  }
});
