import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { resultFor } from "./result.ts";

const calls = ["a", "b"].map((id) => ({ id, name: "look", args: {} }));
const [a, b] = calls as [(typeof calls)[number], (typeof calls)[number]];
const turn = (): AIMessage => new AIMessage({ id: "turn", content: "", tool_calls: calls });
const message = (fields: object = {}): ToolMessage =>
  new ToolMessage({ content: "seen", tool_call_id: "a", name: "look", ...fields });

describe("the result of a call", () => {
  test("is the message itself when it fits", () => {
    const given = message({ id: "own" });
    expect(resultFor(a, given, turn(), [])).toBe(given);
  });

  test("gets an id when it has none", () => {
    expect(resultFor(a, message(), turn(), []).id).toBeTruthy();
  });

  test.each([
    ["another call's id", { tool_call_id: "other" }],
    ["no name", { name: undefined }],
  ])("is a copy when the message has %s", (_, fields) => {
    const given = message({ ...fields, id: "own", artifact: { kept: true }, status: "error" });
    const before = { ...given };
    const result = resultFor(a, given, turn(), []);
    expect(result).not.toBe(given);
    expect(result).toMatchObject({ id: "own", tool_call_id: "a", name: "look", content: "seen" });
    expect(result).toMatchObject({ artifact: { kept: true }, status: "error" });
    expect(given.tool_call_id).toBe(before.tool_call_id);
    expect(given.name).toBe(before.name);
  });

  test("keeps changes made to a message after it was constructed", () => {
    const given = message({ tool_call_id: "other" });
    given.content = "changed";
    expect(resultFor(a, given, turn(), []).content).toBe("changed");
  });

  test("does not take the message id of a sibling or of an earlier message", () => {
    const shared = turn();
    const first = resultFor(a, message({ id: "same" }), shared, []);
    const second = resultFor(b, message({ id: "same", tool_call_id: "b" }), shared, []);
    expect([first.id, second.tool_call_id]).toEqual(["same", "b"]);
    expect(second.id).not.toBe("same");
    const later = resultFor(a, message({ id: "old" }), turn(), [
      new HumanMessage({ id: "old", content: "hi" }),
    ]);
    expect(later.id).not.toBe("old");
  });

  test("is the same again for the same call", () => {
    const shared = turn();
    const given = message({ id: "own" });
    expect(resultFor(a, given, shared, [])).toBe(resultFor(a, given, shared, []));
  });
});
