import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { directoriesOf, lastTurnOf } from "./nested.ts";

const call = (name: string, args: Record<string, unknown>, id = "1") => ({
  name,
  args,
  id,
  type: "tool_call" as const,
});
const result = (id: string, status?: "error") =>
  new ToolMessage({ content: "", tool_call_id: id, ...(status && { status }) });

describe("lastTurnOf", () => {
  it("knows the calls that were answered since the model spoke, and those that went well", () => {
    const calls = [call("ls", {}, "1"), call("grep", {}, "2"), call("glob", {}, "3")];
    const turn = lastTurnOf([
      new HumanMessage("a"),
      new AIMessage({ content: "", tool_calls: calls }),
      result("1"),
      result("2", "error"),
    ]);
    expect(turn).toEqual({ isStart: false, calls: calls.slice(0, 2), done: calls.slice(0, 1) });
  });

  it("sees that a run begins", () => {
    expect(lastTurnOf([]).isStart).toBe(true);
    expect(lastTurnOf([new HumanMessage("a")]).isStart).toBe(true);
    expect(lastTurnOf([new HumanMessage("a"), new AIMessage("b"), new HumanMessage("c")]).isStart).toBe(true);
  });
});

describe("directoriesOf", () => {
  it.each<[string, string, Record<string, unknown>, string, string[]]>([
    ["that of a file and those above", "read_file", { file_path: "/a/b/c.ts" }, "/", ["/", "/a", "/a/b"]],
    ["the one that is listed", "ls", { path: "/a/b" }, "/", ["/", "/a", "/a/b"]],
    ["the working directory by default", "ls", {}, "/home/me", ["/home/me"]],
    [
      "those up to the working directory",
      "edit_file",
      { file_path: "src/x.ts" },
      "/home/me",
      ["/home/me", "/home/me/src"],
    ],
    ["by the other name of the argument", "write_file", { path: "/a/x" }, "/", ["/", "/a"]],
    ["none outside the working directory", "read_file", { file_path: "/etc/passwd" }, "/home/me", []],
    ["none of a path that is none", "read_file", { file_path: "../x" }, "/", []],
    ["none in code of others", "read_file", { file_path: "/a/node_modules/b/x.js" }, "/", []],
    ["none of what was put aside", "read_file", { file_path: "/large_tool_results/x" }, "/", []],
    ["none for other tools", "execute", { command: "cat /a/b", path: "/a/b" }, "/", []],
  ])("are %s", (_name, tool, args, base, expected) =>
    expect(directoriesOf([call(tool, args)], base)).toEqual(expected),
  );
});
