import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { callTool, say, scriptedModel } from "./index.ts";
import {
  explainPrefix,
  firstDifference,
  prefixShare,
  recordRequests,
  requestBytes,
  requestParts,
} from "./request-prefix.ts";

const named = (name: string) =>
  tool(() => "", { name, description: `Does ${name}.`, schema: z.object({ path: z.string() }) });
const system = new SystemMessage("Be brief.");
const call = new AIMessage({ content: "", tool_calls: [{ id: "a", name: "ls", args: { path: "/" } }] });
const result = new ToolMessage({ tool_call_id: "a", content: "/x" });
const base = { tools: [named("ls"), named("grep")], messages: [system, new HumanMessage("Go.")] };

describe("firstDifference", () => {
  test("is undefined when a request extends the one before", () => {
    const next = { ...base, messages: [...base.messages, call, result] };
    expect(firstDifference(base, next)).toBeUndefined();
    expect(firstDifference(base, base)).toBeUndefined();
  });

  test.each([
    ["a tool", { ...base, tools: [named("ls"), named("glob")] }, "tool 1 (glob)"],
    ["the number of tools", { ...base, tools: [...base.tools, named("z")] }, "tool 2 (z)"],
    [
      "the system prompt",
      { ...base, messages: [new SystemMessage("Be long."), ...base.messages.slice(1)] },
      "system",
    ],
    ["a message", { ...base, messages: [system, new HumanMessage("Go!")] }, "message 0 (human)"],
    ["a message that is gone", { ...base, messages: [system] }, "message 0 (human)"],
  ] as const)("names the part: %s", (_, next, part) => {
    expect(firstDifference(base, next)?.part).toBe(part);
  });

  test("counts bytes, not characters", () => {
    const before = { messages: [new HumanMessage("漢字 a")] };
    const after = { messages: [new HumanMessage("漢字 b")] };
    const head = new TextEncoder().encode('{"type":"human","content":"漢字 ').length;
    expect(firstDifference(before, after)).toMatchObject({ offset: head, offsetInPart: head, next: 'b"}' });
  });

  test("does not mind cache markers, nor a text as one block", () => {
    const marked = {
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "ls", input_schema: {}, cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Go.", cache_control: { type: "ephemeral" } }] },
      ],
    };
    const plain = {
      system: "Be brief.",
      tools: [{ name: "ls", input_schema: {} }],
      messages: [{ role: "user", content: "Go." }],
    };
    expect(firstDifference(marked, plain)).toBeUndefined();
    expect(requestBytes(marked)).toBe(requestBytes(plain));
  });

  test("reads what goes to each provider", () => {
    const names = (request: object) => requestParts(request).map(({ name }) => name);
    const words = { role: "user", content: "Go." };
    expect(names({ system: "s", messages: [words] })).toEqual(["system", "message 0 (user)"]);
    expect(names({ messages: [{ role: "system", content: "s" }, words] })).toEqual([
      "system",
      "message 0 (user)",
    ]);
    expect(
      names({
        input: [
          { role: "developer", content: "s" },
          { type: "function_call", name: "ls" },
        ],
      }),
    ).toEqual(["system", "message 0 (function_call)"]);
    expect(names({ systemInstruction: {}, contents: [{ role: "user", parts: [] }] })).toEqual([
      "system",
      "message 0 (user)",
    ]);
  });
});

test("explainPrefix says how far two requests agree and how they go on", () => {
  const next = { ...base, messages: [system, new HumanMessage("Go!")] };
  expect(explainPrefix(base, next)).toMatch(
    /^The requests are the same for \d+ of \d+ bytes and part in message 0 \(human\), at byte \d+ of it\.\n.*Go.*\n {2}before: "\.\\"}"\n {2}now: {4}"!\\"}"$/,
  );
  expect(explainPrefix(base, base)).toMatch(/are the beginning of the next one/);
});

test("prefixShare is what of all bytes had been sent before", () => {
  const one = { messages: [new HumanMessage("a".repeat(1000))] };
  const two = { messages: [...one.messages, new AIMessage("b".repeat(1000))] };
  expect(prefixShare([one])).toBe(0);
  expect(prefixShare([one, two])).toBeCloseTo(1 / 3, 1);
});

test("recordRequests shows where a thread lost its prefix", async () => {
  const recorder = recordRequests();
  let turn = 0;
  const clock = {
    name: "clock",
    wrapModelCall: (request: object, handler: (request: never) => unknown) => {
      turn += 1;
      const systemPrompt = turn < 3 ? "Work." : "Rest.";
      return handler({ ...request, systemPrompt } as never);
    },
  };
  const model = scriptedModel([callTool("ls", { path: "/" }), callTool("ls", { path: "/" }), say("done")]);
  const agent = createDeepAgent({ model, middleware: [clock as never, recorder.middleware] });
  await agent.invoke({ messages: [new HumanMessage("Go.")] });
  expect(recorder.requests).toHaveLength(3);
  expect(recorder.breaks()).toEqual([
    { request: 2, explanation: expect.stringMatching(/part in system, at byte 1 of it/) },
  ]);
});
