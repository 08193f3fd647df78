/** Replies with status 200 that no provider means to send, made from sound ones. For tests only. */
import type { ProviderAnswer } from "../context/fixtures/provider-server-for-tests.ts";
import type { Api } from "../context/fixtures/provider-server-read-for-tests.ts";

type Pieces = readonly string[];
type Raw = NonNullable<ProviderAnswer["raw"]>;

export interface Malformed {
  readonly what: string;
  readonly answer: ProviderAnswer;
  /**
   * "again": the reply is refused and asked for again. "read": the client passes over the odd part, and the reply counts.
   * "called": the same, and the call in it is answered.
   */
  readonly end: "again" | "read" | "called";
}

const SAID: ProviderAnswer = { text: "Half of it." };
const CALLS: ProviderAnswer = { calls: [{ name: "ls", args: { path: "/" } }] };
const PAGE = "<!doctype html><html><body><h1>Sign in</h1></body></html>";

/** The data of one event replaced; its name stays. */
const data = (piece: string, change: (data: string) => string): string =>
  piece.replace(/^data: (.*)$/m, (_, text) => `data: ${change(text)}`);

const at =
  (place: number, change: (piece: string) => string): Raw =>
  (pieces) =>
    pieces
      .map((piece, i) => (i === (place + pieces.length) % pieces.length ? change(piece) : piece))
      .join("");

const event = (place: number, text: string): Raw => at(place, (piece) => data(piece, () => text));

/** Sets the field at `path` of one event; undefined removes it. A path through nothing throws. */
function field(place: number, path: string, value: unknown): Raw {
  return at(place, (piece) =>
    data(piece, (text) => {
      const root = { root: JSON.parse(text) };
      const steps = `root.${path}`.replace(/\.$/, "").split(".");
      const last = steps.pop() as string;
      const holder = steps.reduce<any>((inner, step) => inner[step], root);
      if (value === undefined) delete holder[last];
      else holder[last] = value;
      return JSON.stringify(root.root);
    }),
  );
}

function bytes(text: string, bad: readonly number[]): Uint8Array {
  const [before = "", after = ""] = text.split("<bad>");
  return Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from(after)]);
}

type Row = readonly [what: string, end: Malformed["end"], raw: Raw, more?: ProviderAnswer];

const rows = (list: readonly Row[], base: ProviderAnswer = SAID): readonly Malformed[] =>
  list.map(([what, end, raw, more]) => ({ what, end, answer: { ...base, ...more, raw } }));

const whole = (pieces: Pieces): string => pieces.join("");
const half = (pieces: Pieces): string => whole(pieces).slice(0, whole(pieces).length >> 1);

/** Replies that no client can read, whoever sent them. */
const ANYWHERE: readonly Malformed[] = rows([
  ["nothing at all", "again", () => ""],
  ["a page", "again", () => PAGE, { contentType: "text/html" }],
  ["a page that calls itself a stream", "again", () => PAGE],
  ["bytes", "again", () => new Uint8Array([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28])],
  ["JSON that says no", "again", () => '{"error":{"message":"Overloaded"}}'],
  ["no line ends", "again", (pieces) => whole(pieces).replaceAll("\n", " ")],
  ["the first event alone", "again", ([first = ""]) => first],
  ["half of the first event", "again", ([first = ""]) => first.slice(0, first.length >> 1)],
  ["half of the bytes", "again", half],
  ["no last event", "again", (pieces) => whole(pieces.slice(0, pieces.length >> 1))],
  ["two roots in an event", "again", at(1, (piece) => data(piece, (text) => text + text))],
  ["two roots in the first event", "again", at(0, (piece) => data(piece, (text) => text + text))],
  ["an event of half an object", "again", event(1, '{"a": {"b": ')],
  ["an event of words", "again", event(1, "undefined")],
  ["an event that is a page", "again", event(1, PAGE)],
  ["an empty event", "again", event(1, "")],
  ["an event of brackets", "again", event(1, "[".repeat(100_000))],
  ["a control character in an event", "again", event(1, '{"type":"pi\u0000ng"}')],
  ["a trailing comma", "again", event(1, '{"type":"ping",}')],
  [
    "UTF-8 broken outside of words",
    "again",
    (pieces) => bytes(whole(pieces).replace(/^data: (.*)$/m, "data: <bad>$1"), [0xff]),
  ],
  ["a byte order mark", "read", (pieces) => `\ufeff${whole(pieces)}`],
]);

/** Most clients read it with marks for the broken bytes. */
const badWords: Raw = (pieces) => bytes(whole(pieces).replace("Half", "Ha<bad>lf"), [0xc3, 0x28]);

const between =
  (text: string): Raw =>
  (pieces) =>
    whole([...pieces.slice(0, 2), text, ...pieces.slice(2)]);

const ANTHROPIC_ERROR =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

const ANTHROPIC: readonly Malformed[] = [
  ...rows([
    ["UTF-8 broken in words", "read", badWords],
    ["an error", "again", () => ANTHROPIC_ERROR],
    ["an error in between", "again", between(ANTHROPIC_ERROR)],
    ["an error of no kind", "again", between("event: error\ndata: {}\n\n")],
    ["null", "again", event(1, "null")],
    ["message is null", "again", field(0, "message", null)],
    ["no message", "again", field(0, "message", undefined)],
    ["no usage", "again", field(0, "message.usage", undefined)],
    ["no block", "again", field(1, "content_block", undefined)],
    ["block is a number", "again", field(1, "content_block", 7)],
    ["block of no type", "again", field(1, "content_block", {})],
    ["block of an unknown type", "again", field(1, "content_block", { type: "dream" })],
    ["no index", "again", field(1, "index", undefined)],
    ["delta is null", "again", field(2, "delta", null)],
    ["no delta", "again", field(2, "delta", undefined)],
    ["delta of no type", "again", field(2, "delta", { text: "x" })],
    ["text is a number", "again", field(2, "delta.text", 7)],
    ["text is an object", "again", field(2, "delta.text", { a: 1 })],
    ["no last delta", "again", field(5, "delta", undefined)],
    ["no last usage", "again", field(5, "usage", undefined)],
    ["last usage is a text", "again", field(5, "usage", "x")],
    ["stop reason is a number", "again", field(5, "delta.stop_reason", 7)],
  ]),
  ...rows(
    [
      ["call without an id", "called", field(1, "content_block.id", undefined)],
      ["call without a name", "called", field(1, "content_block.name", undefined)],
      ["name is a number", "again", field(1, "content_block.name", 7)],
      ["id is a number", "again", field(1, "content_block.id", 7)],
      ["arguments are an object", "again", field(2, "delta.partial_json", { a: 1 })],
      ["arguments are null", "called", field(2, "delta.partial_json", null)],
      ["arguments are broken", "called", field(2, "delta.partial_json", '{"path":')],
      ["call without an end", "again", (pieces) => whole(pieces.slice(0, 3))],
    ],
    CALLS,
  ),
];

const CHAT_ERROR =
  'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n';
const delta = "choices.0.delta";
const call = `${delta}.tool_calls.0`;

const CHAT: readonly Malformed[] = [
  ...rows([
    ["UTF-8 broken in words", "read", badWords],
    ["an error", "again", () => CHAT_ERROR],
    ["an error in between", "again", between(CHAT_ERROR)],
    ["null", "again", event(1, "null")],
    ["a text", "again", event(1, '"x"')],
    ["a list", "again", event(1, "[]")],
    ["an empty object", "again", event(1, "{}")],
    ["choices is a text", "again", field(1, "choices", "x")],
    ["choices is null", "again", field(1, "choices", null)],
    ["choices holds null", "again", field(1, "choices", [null])],
    ["choices is an object", "again", field(1, "choices", { a: 1 })],
    ["delta is a text", "again", field(1, delta, "x")],
    ["no delta", "read", field(-3, delta, undefined)],
    ["content is a number", "again", field(1, `${delta}.content`, 7)],
    ["content is an object", "again", field(1, `${delta}.content`, { a: 1 })],
    ["role is a number", "read", field(0, `${delta}.role`, 7)],
    ["role is unknown", "read", field(0, `${delta}.role`, "oracle")],
    ["role is user", "read", field(0, `${delta}.role`, "user")],
    ["role is tool", "read", field(0, `${delta}.role`, "tool")],
    ["role is system", "read", field(0, `${delta}.role`, "system")],
    ["no role", "read", field(0, `${delta}.role`, undefined)],
    ["no first event", "read", (pieces) => whole(pieces.slice(1))],
    ["id is a number", "read", field(0, "id", 7)],
    ["usage is a text", "read", field(-2, "usage", "x")],
    ["no usage", "read", (pieces) => whole(pieces.toSpliced(-2, 1))],
    ["no [DONE]", "read", (pieces) => whole(pieces.slice(0, -1))],
    ["finish reason is a number", "again", field(-3, "choices.0.finish_reason", 7)],
  ]),
  ...rows(
    [
      ["no role, a call", "called", field(0, `${delta}.role`, undefined)],
      ["role is empty, a call", "called", field(0, `${delta}.role`, "")],
      ["role is null, a call", "called", field(0, `${delta}.role`, null)],
      ["role is unknown, a call", "called", field(0, `${delta}.role`, "oracle")],
      ["no first event, a call", "called", (pieces) => whole(pieces.slice(1))],
      ["calls is a text", "again", field(1, `${delta}.tool_calls`, "x")],
      ["calls is an object", "again", field(1, `${delta}.tool_calls`, { a: 1 })],
      ["calls holds null", "again", field(1, `${delta}.tool_calls`, [null])],
      ["call without a function", "called", field(1, `${call}.function`, undefined)],
      ["call without a name", "called", field(1, `${call}.function.name`, undefined)],
      ["call without an id", "called", field(1, `${call}.id`, undefined)],
      ["call without an index", "called", field(1, `${call}.index`, undefined)],
      ["arguments are an object", "again", field(1, `${call}.function.arguments`, { a: 1 })],
      ["arguments are broken", "called", field(1, `${call}.function.arguments`, "{")],
      ["name is a number", "again", field(1, `${call}.function.name`, 7)],
      ["call without an end", "again", (pieces) => whole(pieces.slice(0, 2))],
    ],
    CALLS,
  ),
];

const RESPONSES_ERROR =
  'event: error\ndata: {"type":"error","code":"server_error","message":"Oh","param":null,"sequence_number":9}\n\n';
const failed: Raw = (pieces) =>
  at(-1, (piece) =>
    data(piece, (text) => {
      const { response } = JSON.parse(text);
      const error = { code: "server_error", message: "Oh" };
      return JSON.stringify({ type: "response.failed", response: { ...response, status: "failed", error } });
    }),
  )(pieces);

const RESPONSES: readonly Malformed[] = [
  ...rows([
    ["UTF-8 broken in words", "read", badWords],
    ["an error", "again", () => RESPONSES_ERROR],
    ["an error in between", "again", between(RESPONSES_ERROR)],
    ["an end that failed", "again", failed],
    ["null", "again", event(1, "null")],
    ["a text", "again", event(1, '"x"')],
    ["an empty object", "again", event(1, "{}")],
    ["no response", "again", field(0, "response", undefined)],
    ["no type", "again", field(1, "type", undefined)],
    ["type is a number", "again", field(1, "type", 7)],
    ["type is unknown", "read", field(1, "type", "response.dream")],
    ["no item", "again", field(1, "item", undefined)],
    ["item is null", "again", field(1, "item", null)],
    ["item of an unknown type", "read", field(1, "item.type", "dream")],
    ["delta is a number", "again", field(2, "delta", 7)],
    ["delta is an object", "again", field(2, "delta", { a: 1 })],
    ["no delta", "again", field(2, "delta", undefined)],
    ["no last response", "again", field(-1, "response", undefined)],
    ["last response is null", "again", field(-1, "response", null)],
    ["no output", "again", field(-1, "response.output", undefined)],
    ["output is a text", "again", field(-1, "response.output", "x")],
    ["output holds null", "again", field(-1, "response.output", [null])],
    ["no usage", "read", field(-1, "response.usage", undefined)],
    ["no status", "read", field(-1, "response.status", undefined)],
  ]),
  ...rows(
    [
      ["call without a name", "again", field(1, "item.name", undefined)],
      ["call without an id", "again", field(1, "item.call_id", undefined)],
      ["arguments are an object", "again", field(2, "delta", { a: 1 })],
      ["no index", "again", field(1, "output_index", undefined)],
      ["call without an end", "again", (pieces) => whole(pieces.slice(0, 3))],
    ],
    CALLS,
  ),
];

const GEMINI_ERROR = 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\n\n';
const candidate = "candidates.0";
const parts = `${candidate}.content.parts`;

const GEMINI: readonly Malformed[] = [
  ...rows([
    ["UTF-8 broken in words", "again", badWords],
    ["an error", "again", () => GEMINI_ERROR],
    ["an error in between", "again", between(GEMINI_ERROR)],
    ["null", "again", event(0, "null")],
    ["a text", "again", event(0, '"x"')],
    ["a list", "again", event(0, "[]")],
    ["an empty object", "read", event(0, "{}")],
    ["candidates is a text", "again", field(0, "candidates", "x")],
    ["candidates is null", "read", field(0, "candidates", null)],
    ["no candidates", "read", field(0, "candidates", undefined)],
    ["candidates is empty", "read", field(0, "candidates", [])],
    ["candidates is an object", "again", field(0, "candidates", { a: 1 })],
    ["candidates holds null", "again", field(0, "candidates", [null])],
    ["content is null", "read", field(0, `${candidate}.content`, null)],
    ["content is a text", "again", field(0, `${candidate}.content`, "x")],
    ["no parts", "read", field(0, parts, undefined)],
    ["parts is a text", "again", field(0, parts, "x")],
    ["parts holds null", "again", field(0, parts, [null])],
    ["part is empty", "read", field(0, parts, [{}])],
    ["part of an unknown kind", "read", field(0, parts, [{ dream: 1 }])],
    ["text is a number", "again", field(0, parts, [{ text: 7 }])],
    ["text is null", "read", field(0, parts, [{ text: null }])],
    ["role is unknown", "read", field(0, `${candidate}.content.role`, "oracle")],
    ["no role", "read", field(0, `${candidate}.content.role`, undefined)],
    ["index is a text", "read", field(0, `${candidate}.index`, "zero")],
    ["usage is a text", "read", field(0, "usageMetadata", "x")],
    ["finish reason is a number", "again", field(-1, `${candidate}.finishReason`, 7)],
  ]),
  ...rows(
    [
      ["call without a name", "called", field(0, `${parts}.0.functionCall.name`, undefined)],
      ["call is null", "again", field(0, `${parts}.0.functionCall`, null)],
      ["call without arguments", "called", field(0, `${parts}.0.functionCall.args`, undefined)],
      ["arguments are a text", "again", field(0, `${parts}.0.functionCall.args`, "x")],
      ["call without an end", "again", (pieces) => whole(pieces.slice(0, 1))],
    ],
    CALLS,
  ),
];

/** Replies that are not streamed. */
export const MALFORMED_WHOLE: readonly Malformed[] = rows([
  ["nothing at all", "again", () => ""],
  ["a page", "again", () => PAGE, { contentType: "text/html" }],
  ["a page that calls itself JSON", "again", () => PAGE],
  ["half of it", "again", half],
  ["two roots", "again", ([body = ""]) => body + body],
  ["null", "again", () => "null"],
  ["a text", "again", () => '"x"'],
  ["a list", "again", () => "[]"],
  ["an empty object", "again", () => "{}"],
  ["bytes", "again", () => new Uint8Array([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28])],
]);

export const MALFORMED: Readonly<Record<Api, readonly Malformed[]>> = {
  anthropic: [...ANYWHERE, ...ANTHROPIC],
  chat: [...ANYWHERE, ...CHAT],
  responses: [...ANYWHERE, ...RESPONSES],
  gemini: [...ANYWHERE, ...GEMINI],
};
