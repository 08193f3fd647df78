/** Files the harness put aside: which of them a thread may read although a rule forbids it. */
import { describe, expect, it } from "vitest";
import { areaOf, areasDirectory, COMPACTION, isOwnRecord, isPutAside, MARKS } from "./harness-areas.ts";

describe("the areas", () => {
  it.each([
    [undefined, ""],
    ["/", ""],
    ["/home/me", "/home/me/.deepwright"],
  ])("from the working directory %j lie in %j", (workingDirectory, expected) => {
    expect(areasDirectory(workingDirectory === undefined ? {} : { workingDirectory })).toBe(expected);
  });

  it.each([
    ["/", "/large_tool_results/a", "/large_tool_results"],
    ["/", "/conversation_history", "/conversation_history"],
    ["/", "/large_tool_results_2/a", undefined],
    ["/", "/", undefined],
    ["/", "", undefined],
    ["/home/me", "/home/me/.deepwright", "/home/me/.deepwright"],
    [
      "/home/me",
      "/home/me/.deepwright/conversation_history/t.md",
      "/home/me/.deepwright/conversation_history",
    ],
    ["/home/me", "/home/me/.deepwright/other", undefined],
    ["/home/me", "/large_tool_results/a", undefined],
  ])("from %s: %s is in %j", (workingDirectory, path, area) => {
    expect(areaOf({ workingDirectory }, path)).toBe(area);
  });
});

describe("a file that was put aside", () => {
  const marked = (marks: unknown) => ({ additional_kwargs: { [MARKS]: marks } });

  it.each<[string, unknown, boolean]>([
    ["a result", marked({ offloaded: { path: "/a" } }), true],
    ["one of two arguments", marked({ arguments: [{ path: "/b" }, { path: "/a" }] }), true],
    ["another result", marked({ offloaded: { path: "/b" } }), false],
    ["other arguments", marked({ arguments: [{ path: "/b" }, null] }), false],
    ["arguments that are no list", marked({ arguments: { path: "/a" } }), false],
    ["marks that are text", marked("/a"), false],
    ["marks that are null", marked(null), false],
    ["no marks", {}, false],
    ["no message", undefined, false],
  ])("is of the thread whose message names it: %s", (_, message, expected) => {
    expect(isPutAside({ state: { messages: [{}, message] } }, "/a")).toBe(expected);
  });

  it.each([[undefined], [{}], [{ messages: "/a" }]])("is of no thread with the state %j", (state) => {
    expect(isPutAside({ state } as never, "/a")).toBe(false);
    expect(isOwnRecord({ state } as never, "/a")).toBe(false);
  });
});

describe("the record of a conversation", () => {
  it.each<[unknown, string, boolean]>([
    ["/h/t.md", "/h/t.md", true],
    ["/h/t.md", "/h/t.mdx", false],
    ["/h/t.part-*.md", "/h/t.part-12.md", true],
    ["/h/t.part-*.md", "/h/t.part-x.md", false],
    ["/h/t.part-*.md", "/h/t.part-.md", false],
    ["/h/t.part-*.md", "/h/u.part-12.md", false],
    ["/h/t.part-*.md", "0123456789ab12.md", false],
    [["/h/t.md"], "/h/t.md", false],
    [undefined, "/h/t.md", false],
  ])("told of as %j is %s: %s", (historyPath, path, expected) => {
    expect(isOwnRecord({ state: { [COMPACTION]: { historyPath } } }, path)).toBe(expected);
  });
});
