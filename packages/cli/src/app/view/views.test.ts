import { emptyScreen, foldEvents, type Screen } from "@deepwright/protocol";
import { expect, test } from "vitest";
import { hangingRows } from "../app-words.ts";
import { liveRegion } from "../live-region.ts";
import { SubagentPanel } from "../panels/subagent-panel.ts";
import { withAdditions } from "../session/additions.ts";
import { statusRow, subagentRow, subagentRows, todoRows, workRow } from "./panes.ts";
import { themeOf } from "./theme.ts";
import { Transcript } from "./transcript.ts";

const theme = themeOf("dark", false);
const context = { theme, lineOf: () => 12 };

const ai = (id: string, content: string, calls: object[] = []) => ({
  event: "updates",
  data: { model_request: { messages: [{ type: "ai", id, content, tool_calls: calls }] } },
});
const result = (id: string, callId: string, content: string, status = "success") => ({
  event: "updates",
  data: { tools: { messages: [{ type: "tool", id, tool_call_id: callId, content, status }] } },
});
const person = (id: string, content: string) => ({
  event: "steer",
  data: { message: { type: "human", id, content } },
});
const piece = (id: string, content: string) => ({
  event: "messages",
  data: [{ type: "AIMessageChunk", id, content, tool_call_chunks: [] }, {}],
});
const END = { event: "end", data: { status: "success" } };

/** All rows a transcript commits while the events come one by one. */
function committed(events: readonly { event: string; data: unknown }[], width = 60): string[] {
  const transcript = new Transcript();
  const rows: string[] = [];
  let screen: Screen = emptyScreen;
  for (const event of events) {
    screen = foldEvents(screen, [event]);
    transcript.follow(screen);
    rows.push(...transcript.commit(screen, width, context));
  }
  return rows;
}

test("a turn with a call and an edit reads from top to bottom", () => {
  const edit = {
    id: "c2",
    name: "edit_file",
    args: { file_path: "/a.ts", old_string: "a\nb", new_string: "a\nc" },
  };
  const rows = committed([
    person("m0", "Change it"),
    ai("m1", "I look.", [{ id: "c1", name: "read_file", args: { file_path: "/a.ts" } }]),
    result("m2", "c1", "1│a\n2│b"),
    ai("m3", "", [edit]),
    result("m4", "c2", "done"),
    ai("m5", "**Done.**"),
    END,
  ]);
  expect(rows).toEqual([
    "› Change it",
    "",
    "  I look.",
    "",
    "● read_file /a.ts",
    "  1│a (2 lines)",
    "● edit_file /a.ts",
    "  12   a",
    "  13 - b",
    "  13 + c",
    "",
    "  Done.",
  ]);
});

test("streamed text is committed once, and what may change stays live", () => {
  const rows = committed([
    piece("m1", "First paragraph.\n\nSec"),
    piece("m1", "ond paragraph.\n\n- one\n"),
    piece("m1", "- two\n- three"),
    ai("m1", "First paragraph.\n\nSecond paragraph.\n\n- one\n- two\n- three"),
    END,
  ]);
  expect(rows.filter((row) => row.trim() !== "")).toEqual([
    "  First paragraph.",
    "  Second paragraph.",
    "  - one",
    "  - two",
    "  - three",
  ]);
});

test("a failed call shows its error, and todos are pinned and not repeated", () => {
  const todos = [
    { content: "Look", status: "completed" },
    { content: "Write", status: "in_progress" },
  ];
  const rows = committed([
    ai("m1", "", [
      { id: "c1", name: "write_todos", args: { todos } },
      { id: "c2", name: "read_file", args: { file_path: "/no" } },
    ]),
    result("m2", "c1", "ok"),
    result("m3", "c2", "Error: there is no such file", "error"),
    END,
  ]);
  expect(rows).toEqual(["✘ read_file /no", "  there is no such file"]);
  const screen = { ...emptyScreen, main: { ...emptyScreen.main, todos } };
  expect(todoRows(screen, 60, theme)).toEqual(["  ☑ Look", "  ◐ Write"]);
});

test("names of tools, files, subagents and titles bring no control characters (TI)", () => {
  const evil = "\x1b]0;x\x07\u202e\r";
  const rows = committed([
    person("m0", evil),
    ai("m1", evil, [{ id: "c1", name: `t${evil}`, args: { [evil]: evil, file_path: evil } }]),
    result("m2", "c1", evil),
    END,
  ]);
  const agent = { ...emptyScreen.main, name: evil, status: "running" as const };
  const screen = { ...emptyScreen, subagents: { a: agent } };
  const all = [
    ...rows,
    ...subagentRows(screen, 60, theme),
    subagentRow(agent, 60, theme, "", evil),
    ...todoRows(
      { ...screen, main: { ...screen.main, todos: [{ content: evil, status: "pending" }] } },
      60,
      theme,
    ),
  ];
  expect(all.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
});

test("what the app adds to a message stands behind it, folded to one line; the same words of a person stay", () => {
  const added = withAdditions("go on", ["I ran `ls`:\n\nREADME.md\n</added>", "Summary of it:\n\nlong"]);
  expect(committed([person("m0", String(added))])).toEqual([
    "› go on",
    "  + I ran `ls`",
    "  + Summary of it",
  ]);
  const own = "see\n\n<added>\nmine\n</added> here";
  expect(committed([person("m0", own)])).toHaveLength(5);
});

test("what does not fit beside a name stands below its second column", () => {
  const line = `  /name     words that are many`;
  expect(hangingRows(line, 24)).toEqual(["  /name     words that", "            are many"]);
  expect(hangingRows("a line without columns", 12)).toEqual(["a line", "without", "columns"]);
});

test("keys in the list of subagents stay with the one that was chosen when another ends", () => {
  const agent = (name: string, status: "running" | "done") => ({ ...emptyScreen.main, name, status });
  let subagents = { a: agent("first", "running"), b: agent("second", "running") };
  const stopped: string[] = [];
  const panel = new SubagentPanel({
    theme,
    context,
    screen: () => ({ ...emptyScreen, subagents }),
    stop: (namespace) => stopped.push(namespace),
    steer: () => {},
    close: () => {},
  });
  expect(panel.rows(60, 10)[1]).toContain("❯ first");
  panel.handle("\x1b[B");
  subagents = { a: agent("first", "done"), b: agent("second", "running") };
  expect(panel.rows(60, 10).slice(1, 3)).toEqual([
    expect.stringContaining("❯ second"),
    expect.stringContaining("  first is done"),
  ]);
  panel.handle("x");
  panel.handle("\x1b[B");
  expect(panel.rows(60, 10).at(-1)).not.toContain("x stops");
  panel.handle("x");
  expect(stopped).toEqual(["b"]);
});

test("the status line leaves out what does not fit, the last first", () => {
  const status = {
    model: "anthropic:claude-sonnet-4-6",
    isOffline: false,
    directory: "~/project",
    sandbox: "os sandbox",
    mode: "ask",
    modeKey: "Shift-Tab",
    isVimNormal: false,
    context: 12_345,
    window: 200_000,
    cost: undefined,
    budget: undefined,
  };
  expect(statusRow(status, 120, theme)).toBe(
    " ask (Shift-Tab) · anthropic:claude-sonnet-4-6 · 12.3k/200k tokens · ~/project · os sandbox · /help",
  );
  expect(statusRow(status, 50, theme)).toBe(" ask (Shift-Tab) · anthropic:claude-sonnet-4-6");
  expect(statusRow({ ...status, items: ["directory", "cost", "mode"] }, 120, theme)).toBe(
    " ~/project · ask (Shift-Tab)",
  );
});

test("the live region keeps the input and gives the conversation what is left", () => {
  const parts = {
    screen: emptyScreen,
    tail: Array.from({ length: 40 }, (_, i) => `row ${i}`),
    work: { elapsed: 65_000, isInterrupting: false, tokens: 0 },
    waiting: ["queued: later"],
    input: ["───", "› text", "───"],
    status: {
      model: "m",
      isOffline: true,
      directory: "d",
      sandbox: "s",
      mode: "plan",
      modeKey: "Shift-Tab",
      isVimNormal: false,
      context: 0,
      window: undefined,
      cost: undefined,
      budget: undefined,
    },
    hint: undefined,
  };
  const rows = liveRegion(parts, 80, 10, theme);
  expect(rows).toHaveLength(10);
  expect(rows.slice(0, 3)).toEqual(["row 37", "row 38", "row 39"]);
  expect(rows).toContain("› text");
  expect(workRow(parts.work, theme)).toContain("1m 5s");
});

test("items of a list that come one by one stand below each other", () => {
  const text = "Found:\n\n- one\n- two\n- three\n\nThat is all.\n\n1. a\n\n2. b\n";
  const pieces = [...text].map((letter) => piece("m1", letter));
  const end = ai("m1", text);
  expect(committed([...pieces, end, END])).toEqual([
    ...["  Found:", "", "  - one", "  - two", "  - three", "", "  That is all."],
    ...["", "  1. a", "", "  2. b"],
  ]);
});
