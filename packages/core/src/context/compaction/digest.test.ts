import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { digestOf } from "./digest.ts";

const call = (id: string, name: string, args: object): AIMessage =>
  new AIMessage({ content: "", tool_calls: [{ id, name, args: { ...args } }] });

const conversation = [
  new HumanMessage("Fix the\nlogin page."),
  call("1", "read_file", { file_path: "/login.ts" }),
  new ToolMessage({ tool_call_id: "1", name: "read_file", content: "code" }),
  call("2", "edit_file", { file_path: "/login.ts", old_string: "a", new_string: "b" }),
  new ToolMessage({
    tool_call_id: "2",
    name: "edit_file",
    status: "error",
    content: "Error: String not found",
  }),
  call("3", "edit_file", { file_path: "/login.ts" }),
  new ToolMessage({ tool_call_id: "3", name: "edit_file", content: "ok" }),
  new AIMessage("It works now."),
];

describe("digestOf", () => {
  it("tells who asked what, which tools worked on which files, what failed, and the last words", () => {
    expect(digestOf(conversation, "", 4000)).toBe(
      [
        "## Requests\n- Fix the login page.",
        "## Work done\n- read_file /login.ts\n- edit_file /login.ts (2 times)",
        "## Failures\n- edit_file: Error: String not found",
        "## Last words of the assistant\nIt works now.",
      ].join("\n\n"),
    );
  });

  it("begins with what was known before", () => {
    expect(digestOf(conversation, "Known $&.", 4000)).toMatch(/^Known \$&\.\n\n## Requests/);
  });

  it("stays within its size, however long the conversation", () => {
    const long = Array.from({ length: 5000 }, (_, i) => new HumanMessage(`${i} ${"word ".repeat(500)}`));
    expect(digestOf(long, "x".repeat(100_000), 2000).length).toBeLessThan(2100);
  });

  it("of nothing says nothing", () => expect(digestOf([], "", 100)).toBe(""));
});
