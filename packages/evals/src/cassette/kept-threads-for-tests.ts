/** Tests only: small conversations that `scripts/cassettes.ts` plays with real tools and keeps as cassettes. */
import { tool } from "@langchain/core/tools";
import type { ScriptedCall, ScriptedTurn } from "deepwright/testing";
import { z } from "zod";

export interface KeptThread {
  readonly name: string;
  /** Each message of the user, with the turns of its run. */
  readonly runs: readonly (readonly [message: string, ...turns: ScriptedTurn[]])[];
}

const call = (name: string, args: unknown = {}): ScriptedCall => ({ name, args });
const calls = (...list: ScriptedCall[]): ScriptedTurn => ({ toolCalls: list });
const write = (path: string, content: string) => call("write_file", { file_path: path, content });
const read = (path: string, more: object = {}) => call("read_file", { file_path: path, ...more });
const edit = (path: string, from: string, to: string, more: object = {}) =>
  call("edit_file", { file_path: path, old_string: from, new_string: to, ...more });
const todos = (...list: [content: string, status: string][]) =>
  call("write_todos", { todos: list.map(([content, status]) => ({ content, status })) });
const task = (description: string) => call("task", { description, subagent_type: "general-purpose" });
const say = (text: string): ScriptedTurn => ({ text });
const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

/** Tools beside the built-in ones. */
export const keptTools = [
  tool(({ word }: { word: string }) => `${word}: a word`, {
    name: "look_up",
    description: "Looks a word up.",
    schema: z.object({ word: z.string() }),
  }),
  tool(
    () => {
      throw new Error("the line is busy");
    },
    { name: "phone", description: "Calls somebody.", schema: z.object({ who: z.string() }) },
  ),
];

export const KEPT_THREADS: readonly KeptThread[] = [
  { name: "plain-answer", runs: [["Hello?", say("Hello!")]] },
  {
    name: "two-runs",
    runs: [
      ["Say a.", say("a")],
      ["And b?", say("b")],
    ],
  },
  { name: "write-and-read", runs: [["Write.", calls(write("/a", "x")), calls(read("/a")), say("Done.")]] },
  {
    name: "parallel-calls",
    runs: [["Both.", calls(write("/a", "x"), write("/b", "y")), calls(read("/a"), read("/b")), say("Done.")]],
  },
  {
    name: "edit",
    runs: [["Edit.", calls(write("/a", "one two")), calls(edit("/a", "one", "1")), say("Done.")]],
  },
  {
    name: "edit-not-unique",
    runs: [
      [
        "Edit.",
        calls(write("/a", "x x")),
        calls(edit("/a", "x", "y")),
        calls(edit("/a", "x", "y", { replace_all: true })),
        say("Done."),
      ],
    ],
  },
  {
    name: "edit-not-found",
    runs: [
      ["Edit.", calls(write("/a", "  indented\n")), calls(edit("/a", "not there", "y")), say("I give up.")],
    ],
  },
  {
    name: "missing-file",
    runs: [
      ["Read.", calls(read("/nowhere")), calls(call("glob", { pattern: "**/*" })), say("There is none.")],
    ],
  },
  {
    name: "file-exists",
    runs: [["Write.", calls(write("/a", "x")), calls(write("/a", "y")), say("It was there.")]],
  },
  {
    name: "pages",
    runs: [
      [
        "Read.",
        calls(write("/long", lines(60))),
        calls(read("/long", { limit: 20 })),
        calls(read("/long", { offset: 20, limit: 20 })),
        say("Read."),
      ],
    ],
  },
  {
    name: "search",
    runs: [
      [
        "Find.",
        calls(write("/a/x.md", "needle\n"), write("/b.txt", "hay\n")),
        calls(call("grep", { pattern: "needle" }), call("glob", { pattern: "*.txt" })),
        say("Found."),
      ],
    ],
  },
  {
    name: "list-and-delete",
    runs: [
      [
        "Tidy.",
        calls(write("/a", "x")),
        calls(call("ls", { path: "/" })),
        calls(call("delete", { file_path: "/a" })),
        say("Gone."),
      ],
    ],
  },
  {
    name: "todo-list",
    runs: [
      [
        "Plan.",
        calls(todos(["look", "in_progress"], ["do", "pending"])),
        calls(todos(["look", "completed"], ["do", "completed"])),
        say("Done."),
      ],
    ],
  },
  {
    name: "todo-list-twice",
    runs: [["Plan.", calls(todos(["a", "pending"]), todos(["b", "pending"])), say("Well.")]],
  },
  { name: "own-tool", runs: [["Look it up.", calls(call("look_up", { word: "whale" })), say("A word.")]] },
  { name: "tool-throws", runs: [["Phone.", calls(call("phone", { who: "Ann" })), say("Nobody there.")]] },
  { name: "unknown-tool", runs: [["Go.", calls(call("teleport", { to: "Mars" })), say("I cannot.")]] },
  {
    name: "wrong-arguments",
    runs: [
      ["Look.", calls(call("look_up", { words: 3 })), calls(call("look_up", { word: "x" })), say("There.")],
    ],
  },
  {
    name: "broken-json",
    runs: [
      [
        "Look.",
        calls({ name: "look_up", rawArgs: '{"word": "x' }),
        calls(call("look_up", { word: "x" })),
        say("There."),
      ],
    ],
  },
  {
    name: "delegation",
    runs: [["Delegate.", calls(task("Count to three.")), say("One, two, three."), say("It counted.")]],
  },
];
