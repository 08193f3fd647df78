import { describe, expect, it } from "vitest";
import { askedTools, type KnownTool, mayAsk, NOT_ASKED } from "./asked-tools.ts";

const KNOWN: KnownTool[] = [
  { name: "ls", effect: "reads" },
  { name: "write_file", effect: "files" },
  { name: "execute", effect: "commands" },
  { name: "send_mail", effect: "network" },
  { name: "mcp__notes__add", effect: "unknown" },
  { name: "task", effect: "reads" },
];

describe("which tools are asked about", () => {
  it.each([
    [undefined, []],
    ["none", []],
    ["ls", ["ls"]],
    ["ls, task,ls", ["ls", "task"]],
    ["changes", ["write_file", "execute", "send_mail", "mcp__notes__add"]],
    ["all", KNOWN.map(({ name }) => name)],
  ])("--ask %s", (given, expected) => {
    expect(askedTools(given, NOT_ASKED, KNOWN)).toEqual(expected);
  });

  it("a thread keeps what was said before, until something else is said", () => {
    const asked = { kept: ["ls"], waiting: [] };
    expect(askedTools(undefined, asked, KNOWN)).toEqual(["ls"]);
    expect(askedTools("task", asked, KNOWN)).toEqual(["task"]);
    expect(askedTools("none", asked, KNOWN)).toEqual([]);
    expect([mayAsk(undefined, asked), mayAsk(undefined, NOT_ASKED)]).toEqual([true, false]);
  });

  it("what already waits is asked about whatever is said", () => {
    const asked = { kept: undefined, waiting: ["delete"] };
    expect(askedTools("none", asked, KNOWN)).toEqual(["delete"]);
    expect(askedTools("ls", asked, KNOWN)).toEqual(["ls", "delete"]);
  });

  it.each(["", "write", "changes,", "Write_file"])("--ask %j is wrong usage", (given) => {
    expect(() => askedTools(given, NOT_ASKED, KNOWN)).toThrow("which is not a tool");
  });
});
