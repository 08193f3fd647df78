/** Random values of every kind a state may hold. */
import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import fc from "fast-check";

const codeUnit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));

export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: codeUnit, maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "",
      "\0",
      "a\0b",
      "\ud800",
      "x\udc00y",
      "👩‍👩‍👧",
      '"$"',
      '{"$":0}',
      "\u2028",
      "[Circular]",
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ minLength: 1, maxLength: 9 }), fc.integer({ min: 200, max: 3_000 }))
      .map(([word, times]) => word.repeat(times)),
  },
  { weight: 1, arbitrary: fc.integer({ min: 500, max: 9_000 }).map((times) => "\ud800x".repeat(times)) },
);

export const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "$",
    "",
    "0",
    "17",
    "-1",
    "1e3",
    "lc",
    "length",
  ),
  fc.constantFrom("\0", "\ud800", "ключ", "a b", "$$", "hasOwnProperty", "type", "id"),
  fc.string({ maxLength: 8 }),
);

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc
    .integer({ min: 200, max: 12_000 })
    .map((length) => Uint8Array.from({ length }, (_, i) => (i * 31) & 255)),
);

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: anyText },
  { weight: 3, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, undefined),
  },
  { weight: 1, arbitrary: fc.bigInt() },
  { weight: 1, arbitrary: fc.date({ noInvalidDate: false }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(/a\/b/giu, /^$/, /\u{1f600}/u).map((pattern) => new RegExp(pattern)),
  },
  { weight: 1, arbitrary: anyText.map((message) => new TypeError(message)) },
  { weight: 1, arbitrary: bytes },
  { weight: 1, arbitrary: fc.float64Array({ maxLength: 4 }) },
);

/** Stored in the files of format 1, which never change. */
export const FIRST_LOOK_ALIKES: readonly unknown[] = [
  { $: 0 },
  { $: 99_999 },
  { $: ["c", "ai", {}] },
  { $: ["c", "human", { content: "no" }] },
  { $: ["u"] },
  { $: ["o", [["$", 1]]] },
  { $: { $: 1 } },
  { $: ["d", 5], other: 1 },
  {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "HumanMessage"],
    kwargs: { content: "no" },
  },
  { lc: 1, type: "secret", id: ["PATH"] },
  { lc: 2, type: "undefined" },
  { lc: 2, type: "constructor", id: ["Map"], method: null, args: [[["a", 1]]] },
  { lc: 2, type: "constructor", id: ["Function"], args: ["return 1"] },
  { __overwrite__: [1] },
  { type: "Buffer", data: [1, 2] },
  { type: "human", content: "not a message" },
  { lg_name: "Send", node: "n", args: {} },
];

/** Data that looks like marks of ours, of LangChain's and of LangGraph's. */
export const LOOK_ALIKES: readonly unknown[] = [
  ...FIRST_LOOK_ALIKES,
  { lg_name: "DeltaSnapshot", value: 1, more: 2 },
  { lg_name: "Command", update: { files: null }, lc_direct_tool_output: true },
  { lg_name: "Overwrite", value: [1] },
  { lg_name: "AsyncBatchedStore", store: {} },
  { $: 1, ["long key ".repeat(200)]: 2 },
  { $: { $: 2, ["k".repeat(1_024)]: [3] } },
  { $: ["S", 1] },
  { __type__: "Map", value: [] },
  { toJSON: 1, constructor: 2, hasOwnProperty: 3 },
  JSON.parse('{"__proto__": {"$": 0}, "$": 1}'),
];

const small = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.constantFrom(undefined, Number.NaN, "\ud800", 5n),
  fc.constantFrom(...LOOK_ALIKES),
  fc.record({ content: fc.string({ maxLength: 300 }) }, { noNullPrototype: true }),
);

/** Lists and maps that are too long to be kept in one piece. */
const many: fc.Arbitrary<unknown> = fc
  .tuple(fc.integer({ min: 60, max: 140 }), fc.array(small, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([length, items, isList]) => {
    const list = Array.from({ length }, (_, i) => items[i % items.length]);
    return isList ? list : Object.fromEntries(list.map((item, i) => [`key-${i}`, item]));
  });

export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.constantFrom(...LOOK_ALIKES),
    fc.array(tie("value"), { maxLength: 5 }),
    record(tie("value")),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    many,
    fc
      .tuple(anyText, tie("value"))
      .map(([pageContent, tag]) => new Document({ pageContent, metadata: { tag } })),
  ),
})).value;

function record(value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  return fc.array(fc.tuple(anyKey, value), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));
}

const json = fc
  .array(fc.tuple(anyKey, fc.oneof(anyText, fc.integer(), fc.constant({ deep: [1] }))), { maxLength: 3 })
  .map((pairs) => Object.fromEntries(pairs));

const content = fc.oneof(
  { weight: 3, arbitrary: anyText },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        anyText.map((text) => ({ type: "text", text })),
        anyText.map((data) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } })),
        anyText.map((reasoning) => ({ type: "reasoning", reasoning })),
      ),
      { maxLength: 3 },
    ),
  },
);

const toolCalls = fc.array(
  fc.record({ id: fc.uuid(), name: anyText, args: json, type: fc.constant("tool_call" as const) }),
  { maxLength: 3 },
);

const usage = fc.constantFrom(undefined, {
  input_tokens: 7,
  output_tokens: 5,
  total_tokens: 12,
  input_token_details: { cache_read: 3 },
});

const common = fc.record({
  id: fc.option(fc.uuid(), { nil: undefined }),
  name: fc.option(fc.string({ maxLength: 5 }), { nil: undefined }),
  content,
  additional_kwargs: json,
  response_metadata: json,
});

const v1Blocks = [
  { type: "reasoning", reasoning: "hm" },
  { type: "text", text: "hello" },
  { type: "tool_call", id: "call-1", name: "ls", args: { path: "/" } },
] as const;

type Build = (fields: any, calls: any, usage: any, extra: any) => BaseMessage;

/** One of each class, built the way programs build them. */
export const MESSAGE_CLASSES: Readonly<Record<string, Build>> = {
  HumanMessage: (fields) => new HumanMessage(fields),
  HumanMessageChunk: (fields) => new HumanMessageChunk(fields),
  SystemMessage: (fields) => new SystemMessage(fields),
  SystemMessageChunk: (fields) => new SystemMessageChunk(fields),
  AIMessage: (fields, tool_calls, usage_metadata) => new AIMessage({ ...fields, tool_calls, usage_metadata }),
  "AIMessage with broken calls": (fields, _, usage_metadata) =>
    new AIMessage({
      ...fields,
      usage_metadata,
      invalid_tool_calls: [{ id: "i", name: "t", args: "{", error: "broken", type: "invalid_tool_call" }],
    }),
  "AIMessage of v1 blocks": (fields) =>
    new AIMessage({ id: fields.id, contentBlocks: v1Blocks.map((block) => ({ ...block })) as never }),
  AIMessageChunk: (fields, calls, usage_metadata) =>
    new AIMessageChunk({
      ...fields,
      usage_metadata,
      tool_call_chunks: calls.map(({ id, name, args }: any, index: number) => ({
        id,
        name,
        args: index === 1 ? '{"cut":' : JSON.stringify(args),
        index,
        type: "tool_call_chunk",
      })),
    }),
  ToolMessage: (fields, _, __, artifact) =>
    new ToolMessage({ ...fields, tool_call_id: "call-1", artifact, status: "error" }),
  ToolMessageChunk: (fields, _, __, artifact) =>
    new ToolMessageChunk({ ...fields, tool_call_id: "call-1", artifact }),
  ChatMessage: (fields) => new ChatMessage({ ...fields, role: "critic" }),
  ChatMessageChunk: (fields) => new ChatMessageChunk({ ...fields, role: "critic" }),
  FunctionMessage: (fields) => new FunctionMessage({ ...fields, name: fields.name ?? "f" }),
  FunctionMessageChunk: (fields) => new FunctionMessageChunk({ ...fields, name: fields.name ?? "f" }),
  RemoveMessage: (fields) => new RemoveMessage({ id: fields.id ?? "gone" }),
};

export const anyMessage: fc.Arbitrary<BaseMessage> = fc
  .tuple(fc.constantFrom(...Object.values(MESSAGE_CLASSES)), common, toolCalls, usage, anyValue)
  .map(([build, fields, calls, usageMetadata, artifact]) =>
    build(withoutUndefined(fields), calls, usageMetadata, artifact),
  );

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
