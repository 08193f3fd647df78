import {
  AIMessage,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import {
  assertValidRequest,
  checkIds,
  checkRequest,
  checkRequestFor,
  type Provider,
  RequestViolation,
} from "./request-checker.ts";

const system = (content = "You help.") => new SystemMessage(content);
const human = (content: string | ContentBlock[] = "Do it.") => new HumanMessage({ content });
const words = (content: string | ContentBlock[]) => new AIMessage({ content });
const result = (id: string, content = "ok", name?: string) =>
  new ToolMessage({ tool_call_id: id, content, name });

type Call = { id?: string; name?: string; args?: unknown };
function calling(calls: Call[], fields: object = {}): AIMessage {
  const tool_calls = calls.map(({ id, name = "read_file", args = {} }) => ({ id, name, args }));
  return new AIMessage({ content: "", ...fields, tool_calls: tool_calls as never });
}

/** As OpenAI's raw calls are kept; set afterwards, because the constructor warns about it. */
function hidden(message: AIMessage): AIMessage {
  const raw = { id: "a", type: "function" as const, function: { name: "f", arguments: "{" } };
  message.additional_kwargs = { tool_calls: [raw] };
  return message;
}

const VALID: Record<string, BaseMessage[]> = {
  "one question": [human()],
  "a system message and a question": [system(), human()],
  "a question, an answer, a question": [human(), words("Yes."), human()],
  "two questions in a row": [human(), human()],
  "one call and its result": [human(), calling([{ id: "a" }]), result("a")],
  "words beside a call": [human(), calling([{ id: "a" }], { content: "Reading." }), result("a")],
  "parallel calls answered in order": [
    human(),
    calling([{ id: "a" }, { id: "b" }, { id: "c" }]),
    result("a"),
    result("b"),
    result("c"),
  ],
  "turns of calls one after the other": [
    system(),
    human(),
    calling([{ id: "a" }]),
    result("a"),
    calling([{ id: "b" }]),
    result("b"),
    words("Done."),
    human(),
  ],
  "an empty result": [human(), calling([{ id: "a" }]), result("a", "")],
  "an invalid call that is also a call": [
    human(),
    calling([{ id: "a" }], { invalid_tool_calls: [{ id: "a", name: "read_file", args: "{", error: "x" }] }),
    result("a"),
  ],
  "tool_use blocks that agree with the calls": [
    human(),
    calling([{ id: "a", args: { path: "/x", n: [1, { y: 2 }] } }], {
      content: [
        { type: "text", text: "Reading." },
        { type: "tool_use", id: "a", name: "read_file", input: { n: [1, { y: 2 }], path: "/x" } },
      ],
    }),
    result("a"),
  ],
  "thinking before a call": [
    human(),
    calling([{ id: "a" }], { content: [{ type: "thinking", thinking: "hm", signature: "s" }] }),
    result("a"),
  ],
  "a request that ends with the assistant": [human(), words("Yes, and")],
  "an image for a question": [human([{ type: "image", url: "https://example.com/a.png" }])],
};

describe("valid histories pass for every provider", () => {
  it.each(Object.entries(VALID))("%s", (_, messages) => {
    expect(() => assertValidRequest(messages)).not.toThrow();
    expect(checkRequest(messages)).toEqual([]);
  });
});

type Row = [title: string, rule: string, index: number, messages: BaseMessage[], providers?: Provider[]];
const EVERY: Provider[] = ["anthropic", "openai", "gemini"];

const INVALID: Row[] = [
  ["a message that removes another", "message-type", 1, [human(), new RemoveMessage({ id: "x" })]],
  ["a system message in the middle", "system-first", 1, [human(), system(), human()]],
  ["two system messages", "system-first", 1, [system(), system(), human()]],
  ["only a system message", "starts-with-human", 0, [system()], ["anthropic", "gemini"]],
  ["nothing at all", "starts-with-human", 0, [], ["anthropic", "gemini"]],
  [
    "an assistant that speaks first",
    "starts-with-human",
    1,
    [system(), words("Hi."), human()],
    ["anthropic", "gemini"],
  ],
  ["a call without id", "call-id", 1, [human(), calling([{}])]],
  ["a call with an empty id", "call-id", 1, [human(), calling([{ id: "" }]), result("")]],
  [
    "two calls of one id",
    "call-id",
    1,
    [human(), calling([{ id: "a" }, { id: "a" }]), result("a"), result("a")],
  ],
  [
    "an id with a colon",
    "call-id-pattern",
    1,
    [human(), calling([{ id: "a:b" }]), result("a:b")],
    ["anthropic"],
  ],
  [
    "an id of 41 characters",
    "call-id-length",
    1,
    [human(), calling([{ id: "a".repeat(41) }]), result("a".repeat(41))],
    ["openai"],
  ],
  [
    "an id used again in a later turn",
    "call-id-reused",
    3,
    [human(), calling([{ id: "a" }]), result("a"), calling([{ id: "a" }]), result("a")],
    ["anthropic"],
  ],
  ["a call without name", "call-name", 1, [human(), calling([{ id: "a", name: "" }]), result("a")]],
  ["a name with a space", "call-name", 1, [human(), calling([{ id: "a", name: "read file" }]), result("a")]],
  [
    "a name of 65 characters",
    "call-name",
    1,
    [human(), calling([{ id: "a", name: "x".repeat(65) }]), result("a")],
  ],
  [
    "a name with a dot",
    "call-name-dot",
    1,
    [human(), calling([{ id: "a", name: "fs.read" }]), result("a")],
    ["anthropic", "openai"],
  ],
  ["arguments that are text", "call-args", 1, [human(), calling([{ id: "a", args: "x" }]), result("a")]],
  ["arguments that are a list", "call-args", 1, [human(), calling([{ id: "a", args: [1] }]), result("a")]],
  ["arguments that are null", "call-args", 1, [human(), calling([{ id: "a", args: null }]), result("a")]],
  ["a call without result at the end", "call-answered", 1, [human(), calling([{ id: "a" }])]],
  [
    "one call of two without result",
    "call-answered",
    1,
    [human(), calling([{ id: "a" }, { id: "b" }]), result("b")],
  ],
  [
    "a question between call and result",
    "call-answered",
    1,
    [human(), calling([{ id: "a" }]), human(), result("a")],
  ],
  [
    "an answer between call and result",
    "call-answered",
    1,
    [human(), calling([{ id: "a" }]), words("x"), result("a")],
  ],
  [
    "calls right behind an assistant message",
    "call-after-user",
    2,
    [human(), words("Wait."), calling([{ id: "a" }]), result("a")],
    ["gemini"],
  ],
  [
    "calls that only additional_kwargs has",
    "hidden-call",
    1,
    [human(), hidden(words("x")), human()],
    ["openai"],
  ],
  ["a result without any call", "result-orphan", 1, [human(), result("a")]],
  [
    "a result of an older turn",
    "result-orphan",
    4,
    [human(), calling([{ id: "a" }]), result("a"), words("x"), result("a")],
  ],
  [
    "a result for a call that is only invalid",
    "result-orphan",
    2,
    [
      human(),
      new AIMessage({ content: "x", invalid_tool_calls: [{ id: "a", name: "f", args: "{", error: "bad" }] }),
      result("a"),
    ],
  ],
  [
    "two results for one call",
    "result-duplicate",
    3,
    [human(), calling([{ id: "a" }]), result("a"), result("a")],
  ],
  [
    "results out of order",
    "result-order",
    3,
    [human(), calling([{ id: "a" }, { id: "b" }]), result("b"), result("a")],
  ],
  [
    "a result with an empty name",
    "result-name",
    2,
    [human(), calling([{ id: "a" }]), result("a", "ok", "")],
    ["gemini"],
  ],
  [
    "a tool_use block without call",
    "tool-block",
    1,
    [human(), words([{ type: "tool_use", id: "a", name: "read_file", input: {} }]), human()],
  ],
  [
    "a tool_use block of another name",
    "tool-block",
    1,
    [
      human(),
      calling([{ id: "a" }], { content: [{ type: "tool_use", id: "a", name: "rm", input: {} }] }),
      result("a"),
    ],
  ],
  [
    "a tool_use block whose input was edited in one place only",
    "tool-block",
    1,
    [
      human(),
      calling([{ id: "a", args: { path: "/new" } }], {
        content: [{ type: "tool_use", id: "a", name: "read_file", input: { path: "/old" } }],
      }),
      result("a"),
    ],
  ],
  [
    "a tool_use block whose input is broken text",
    "tool-block",
    1,
    [
      human(),
      calling([{ id: "a" }], { content: [{ type: "tool_use", id: "a", name: "read_file", input: "{" }] }),
      result("a"),
    ],
  ],
  [
    "a tool_use block whose input is sound text",
    "tool-block-input",
    1,
    [
      human(),
      calling([{ id: "a" }], { content: [{ type: "tool_use", id: "a", name: "read_file", input: "{}" }] }),
      result("a"),
    ],
    ["gemini"],
  ],
  [
    "an empty answer that is followed by more",
    "empty-message",
    1,
    [human(), words(""), human()],
    ["anthropic", "gemini"],
  ],
  [
    "an empty list of blocks that is followed by more",
    "empty-message",
    1,
    [human(), words([]), human()],
    ["anthropic", "gemini"],
  ],
  ["an empty question", "empty-message", 0, [human("")], ["anthropic", "gemini"]],
  ["an answer of spaces", "blank-text", 1, [human(), words("  \n"), human()], ["anthropic"]],
  [
    "a blank text block beside a call",
    "blank-text",
    1,
    [human(), calling([{ id: "a" }], { content: [{ type: "text", text: "" }] }), result("a")],
    ["anthropic"],
  ],
  [
    "an answer that only thinks",
    "thinking-last",
    1,
    [human(), words([{ type: "thinking", thinking: "hm", signature: "s" }]), human()],
    ["anthropic"],
  ],
  ["a last answer that ends with a space", "trailing-whitespace", 1, [human(), words("Yes ")], ["anthropic"]],
];

describe("invalid histories are found, with the rule and the place", () => {
  it.each(INVALID)("%s breaks %s at #%i", (_, rule, index, messages, providers = EVERY) => {
    const broken = expect.objectContaining({ rule, index, message: expect.any(String) });
    for (const provider of EVERY) {
      const found = checkRequestFor(provider, messages);
      if (providers.includes(provider)) expect(found).toContainEqual(broken);
      else expect(found.map((violation) => violation.rule)).not.toContain(rule);
    }
    const common = checkRequest(messages).map((violation) => violation.rule);
    expect(common.includes(rule)).toBe(providers === EVERY);
    expect(() => assertValidRequest(messages)).toThrow(RequestViolation);
  });
});

describe("assertValidRequest", () => {
  it("applies only the rules of the providers it is given, and the common ones", () => {
    const reused = [human(), calling([{ id: "a" }]), result("a"), calling([{ id: "a" }]), result("a")];
    expect(() => assertValidRequest(reused, { providers: ["openai", "gemini"] })).not.toThrow();
    expect(() => assertValidRequest(reused, { providers: ["anthropic"] })).toThrow(/call-id-reused/);
    expect(() => assertValidRequest([human(), result("a")], { providers: [] })).toThrow(/result-orphan/);
  });

  it("lists what is broken beside the messages around it, and counts the rest", () => {
    const past = Array.from({ length: 20 }, () => [human("More?"), words("Yes.")]).flat();
    let thrown: unknown;
    try {
      assertValidRequest([
        system(),
        ...past,
        human("Now."),
        calling([{ id: "a" }, { id: "b" }]),
        result("b"),
      ]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RequestViolation);
    expect((thrown as RequestViolation).violations).toHaveLength(1);
    expect((thrown as Error).name).toBe("RequestViolation");
    expect((thrown as Error).message).toBe(
      [
        "1 rule is broken in a request of 44 messages:",
        "  #42 call-answered: the call 'a' of 'read_file' has no result right behind it",
        "The messages:",
        "  … 39 more",
        '  #39 human "More?"',
        '  #40 ai "Yes."',
        '  #41 human "Now."',
        '  #42 ai "" → read_file(a) → read_file(b)',
        '  #43 tool b "ok"',
      ].join("\n"),
    );
  });
});

describe("checkIds", () => {
  it("asks every message but the system message for an id of its own", () => {
    const messages = [
      system(),
      new HumanMessage({ id: "1", content: "a" }),
      new AIMessage({ content: "b" }),
      new HumanMessage({ id: "", content: "c" }),
      new AIMessage({ id: "1", content: "d" }),
    ];
    expect(checkIds(messages)).toEqual([
      { rule: "message-id", index: 2, message: "the ai message has no id" },
      { rule: "message-id", index: 3, message: "the human message has no id" },
      { rule: "message-id", index: 4, message: "message #1 has the id '1' too" },
    ]);
  });

  it("is part of the assertion only on request", () => {
    expect(() => assertValidRequest([human()])).not.toThrow();
    expect(() => assertValidRequest([human()], { ids: true })).toThrow(/message-id/);
  });
});
