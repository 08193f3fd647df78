/** A labelled corpus: threads that go round in circles, and honest work that looks a little like it. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { repetitionIn } from "./repetition.ts";

type Call = readonly [tool: string, args: object, result: string];
/** Calls of one turn, or words. */
type Step = Call | readonly Call[] | string;

let ids = 0;
const nextId = (): string => `id-${ids++}`;

function turn(step: Step): BaseMessage[] {
  if (typeof step === "string") return [new AIMessage({ id: nextId(), content: step })];
  const calls = (typeof step[0] === "string" ? [step] : step) as readonly Call[];
  const made = calls.map(([name, args]) => ({ name, args, id: nextId(), type: "tool_call" as const }));
  const results = calls.map(([name, , result], i) => {
    const id = made[i]?.id as string;
    return new ToolMessage({ id: nextId(), tool_call_id: id, name, content: result.replaceAll("<id>", id) });
  });
  return [new AIMessage({ id: nextId(), content: "", tool_calls: made as never }), ...results];
}

function thread(steps: readonly Step[]): BaseMessage[] {
  return [new HumanMessage("Go."), ...steps.flatMap(turn)];
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const cycle = (rounds: number, ...steps: Step[]): Step[] => times(rounds, () => steps).flat();

const READ: Call = ["read_file", { file_path: "/a" }, "text"];
const GREP: Call = ["grep", { pattern: "x" }, "No matches found"];
const FAIL: Call = [
  "edit_file",
  { file_path: "/a", old_string: "x" },
  "Error: String not found in file: 'x'",
];
const LS: Call = ["ls", { path: "/" }, "/a"];
const TEST: Call = ["execute", { command: "npm test" }, "1 failed"];

const LOOPS: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  ["one call", times(10, () => READ)],
  ["one call that fails", times(10, () => FAIL)],
  [
    "one call behind honest work",
    [...times(20, (i) => ["write_file", { i }, "ok"] as const), ...times(10, () => GREP)],
  ],
  ["two calls at once", times(10, () => [READ, GREP])],
  ["two calls at once in changing order", times(10, (i) => (i % 2 ? [READ, GREP] : [GREP, READ]))],
  ["the same call twice in each turn", times(10, () => [READ, READ])],
  [
    "a large result kept in a file of its own",
    times(10, () => ["execute", {}, "Kept in /results/<id>."] as const),
  ],
  ["A-B", cycle(6, READ, FAIL)],
  ["A-B-C", cycle(6, READ, FAIL, GREP)],
  ["A-B-C-D", cycle(6, READ, FAIL, GREP, LS)],
  ["A-B-C-D-E", cycle(6, READ, FAIL, GREP, LS, TEST)],
  ["A-A-B", cycle(6, READ, READ, FAIL)],
  ["the end of a circle that did not begin with its first step", [FAIL, ...cycle(6, READ, FAIL)]],
  ["a test that fails while nothing is done", times(10, () => TEST)],
  [
    "a todo list written again and again",
    times(10, () => ["write_todos", { todos: [] }, "Updated"] as const),
  ],
  ["a monologue", times(10, () => "I am done now.")],
  ["two replies in turn", cycle(6, "I am done.", "Let me check.")],
  ["silence", times(10, () => "")],
  ["an unknown tool", times(10, () => ["nope", {}, "Error: There is no tool 'nope'."] as const)],
  ["a result in blocks", times(10, () => ["look", {}, "[image]"] as const)],
];

const HONEST: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  ["50 different reads", times(50, (i) => ["read_file", { file_path: `/${i}` }, "text"])],
  ["50 pages of one file", times(50, (i) => ["read_file", { file_path: "/a", offset: i * 100 }, "text"])],
  [
    "50 different edits with the same answer",
    times(50, (i) => ["edit_file", { old_string: `${i}` }, "Edited"]),
  ],
  [
    "50 files with the same content",
    times(50, (i) => ["write_file", { file_path: `/${i}`, content: "x" }, "ok"]),
  ],
  ["asking for something that changes", times(50, (i) => ["status", {}, `${i} %`])],
  ["reading a file that grows", times(50, (i) => ["read_file", { file_path: "/log" }, "line\n".repeat(i)])],
  ["edit, test, edit, test", times(25, (i): Step[] => [["edit_file", { i }, "Edited"], TEST]).flat()],
  [
    "edit, read back, test",
    times(20, (i): Step[] => [["edit_file", { i }, "Edited"], ["read_file", {}, `v${i}`], TEST]).flat(),
  ],
  [
    "the same test, with ever fewer failures",
    times(20, (i) => ["execute", { command: "npm test" }, `${20 - i} failed`]),
  ],
  ["a listing before each step", times(20, (i): Step[] => [LS, ["write_file", { i }, "ok"]]).flat()],
  ["one of two calls at once changes", times(30, (i) => [LS, ["read_file", { i }, "text"]])],
  ["the same words beside different calls", times(30, (i) => ["fetch", { page: i }, "ok"])],
  ["a call tried again twice", [READ, FAIL, FAIL, FAIL, LS, READ]],
  [
    "a call with the same arguments now and then",
    times(30, (i): Step => (i % 7 === 0 ? LS : ["read_file", { i }, "t"])),
  ],
  [
    "a poll that waits for a word",
    [...times(4, () => ["status", {}, "running"] as const), ["status", {}, "done"]],
  ],
  ["different replies", times(30, (i) => `Part ${i}.`)],
  ["a search from many sides", times(40, (i) => ["grep", { pattern: `p${i}` }, "No matches found"])],
  [
    "a bisection",
    times(20, (i) => ["execute", { command: `git checkout c${i} && npm test` }, i % 2 ? "bad" : "good"]),
  ],
  ["tasks of one kind", times(30, (i) => ["task", { description: `Chapter ${i}` }, "done"])],
  ["two rounds of a circle", cycle(2, READ, FAIL, GREP)],
];

const rounds = (steps: readonly Step[]): number => repetitionIn(thread(steps), undefined, 100)?.rounds ?? 1;

describe("R-31", () => {
  test.each(LOOPS)("a loop is seen: %s", (_, steps) => {
    const { period = 0, rounds: seen = 1 } = repetitionIn(thread(steps), undefined, 100) ?? {};
    expect(seen).toBeGreaterThanOrEqual(period === 1 ? 10 : 6);
  });

  test.each(HONEST)("honest work is left alone, at every step of it: %s", (_, steps) => {
    for (let length = 1; length <= steps.length; length += 1) {
      const { period = 0, rounds: seen = 1 } =
        repetitionIn(thread(steps.slice(0, length)), undefined, 100) ?? {};
      expect(seen).toBeLessThan(period === 1 ? 5 : 3);
    }
  });
});

test("the shortest circle is the one that counts", () => {
  expect(repetitionIn(thread(times(12, () => READ)), undefined, 100)).toEqual({
    period: 1,
    rounds: 12,
    tools: ["read_file"],
  });
});

test("one other step ends a circle", () => {
  expect(rounds([...times(9, () => READ), LS])).toBe(1);
  expect(rounds([...times(9, () => READ), LS, READ])).toBe(1);
});

test("what stands before a message is not looked at", () => {
  const messages = thread(times(9, () => READ));
  const since = messages.findLast((message) => AIMessage.isInstance(message))?.id;
  expect(repetitionIn([...messages, ...turn(READ), ...turn(READ)], since, 100)).toMatchObject({ rounds: 2 });
});

test("of a thread in which nothing repeats only its end is read", () => {
  const messages = thread(times(1000, (i) => ["read_file", { i }, "text"]));
  let touched = 0;
  const watched = new Proxy(messages, {
    get: (list, key, self) => {
      if (typeof key === "string" && /^\d+$/.test(key)) touched += 1;
      return Reflect.get(list, key, self);
    },
  });
  repetitionIn(watched, undefined, 10);
  expect(touched).toBeGreaterThan(0);
  expect(touched).toBeLessThan(20);
});
