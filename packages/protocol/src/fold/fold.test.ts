import { Command, MemorySaver } from "@langchain/langgraph";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  emptyScreen,
  type FoldedEvent,
  foldEvent,
  foldEvents,
  type Screen,
  screenOfThread,
} from "../index.ts";
import { asked, team } from "./agents-for-tests.ts";
import { type RecordedEvent, record } from "./record-for-tests.ts";

const MODES = ["values", "updates", "messages", "custom", "tasks"];
const only = (events: readonly RecordedEvent[], ...kinds: string[]) =>
  events.filter(({ event }) =>
    [...kinds, "metadata", "error", "end"].includes(event.split("|")[0] as string),
  );
const fold = (events: Iterable<FoldedEvent>, from: Screen = emptyScreen) => foldEvents(from, events);

interface Values extends Record<string, unknown> {
  readonly messages: readonly unknown[];
}

/** The screen as a person reads it, without the order in which children began. */
function read(screen: Screen) {
  const agent = ({ name, status, messages, todos, files }: Screen["main"]) => ({
    name,
    status,
    todos,
    files: Object.values(files)
      .map(({ path, change, content }) => `${change} ${path} ${content}`)
      .sort(),
    messages: messages.map(({ role, text, calls, streaming }) => ({
      role,
      text,
      streaming,
      calls: calls.map((call) => [call.name, call.status, call.result, call.args]),
    })),
  });
  return {
    run: screen.run.status,
    main: agent(screen.main),
    children: Object.values(screen.subagents)
      .map(agent)
      .sort((a, b) => JSON.stringify(a.files).localeCompare(JSON.stringify(b.files))),
    usage: screen.usage,
  };
}

let events: RecordedEvent[];
beforeAll(async () => {
  events = await record(team(), asked("Go"), { modes: MODES });
});

describe("a run of a team", () => {
  test("shows messages, calls with results, todos, files and usage", () => {
    const screen = fold(events);
    const { main } = screen;
    expect(screen.run).toEqual({ id: "run-1", threadId: "thread-1", status: "success" });
    expect(main.messages.map(({ role, text }) => [role, text])).toEqual([
      ["user", "Go"],
      ["assistant", "I plan the work before I begin."],
      ["assistant", ""],
      ["assistant", ""],
      ["assistant", "Red and blue are done, and so am I."],
    ]);
    expect(main.messages.flatMap(({ calls }) => calls.map(({ name, status }) => [name, status]))).toEqual([
      ["write_todos", "done"],
      ["write_file", "done"],
      ["task", "done"],
      ["task", "done"],
      ["read_file", "error"],
      ["write_todos", "done"],
    ]);
    expect(main.messages[2]?.calls.map(({ result }) => result)).toEqual([
      "red was here, and left",
      "blue was here, and left",
    ]);
    expect(main.todos).toEqual([{ content: "ask the children", status: "completed" }]);
    expect(main.files).toEqual({
      "/plan.md": { path: "/plan.md", change: "written", content: "1. ask" },
      "/red.md": { path: "/red.md", change: "written", content: "red" },
      "/blue.md": { path: "/blue.md", change: "written", content: "blue" },
    });
    expect(screen.usage.total).toBe(screen.usage.input + screen.usage.output);
    expect(screen.usage.input).toBeGreaterThan(0);
  });

  test("shows children with their own messages, tied to the call they work on", () => {
    const screen = fold(events);
    const calls = screen.main.messages[2]?.calls ?? [];
    expect(calls).toHaveLength(2);
    for (const [index, color] of ["red", "blue"].entries()) {
      const child = screen.subagents[calls[index]?.subagent ?? ""];
      expect(child).toMatchObject({ name: color, status: "done", callId: calls[index]?.id });
      expect(child?.messages.at(-1)?.text).toBe(`${color} was here, and left`);
      expect(Object.keys(child?.files ?? {})).toEqual([`/${color}.md`]);
    }
  });

  test("reads the same from snapshots, from updates, from pieces and from all of them", () => {
    const whole = read(fold(events));
    const said = ({ main, children, usage }: typeof whole) => ({
      main: { ...main, messages: main.messages.filter(({ role }) => role !== "user") },
      children: children.map(({ name: _, ...child }) => ({
        ...child,
        messages: child.messages.filter(({ role }) => role !== "user"),
      })),
      usage,
    });
    expect(said(read(fold(only(events, "values"))))).toEqual(said(whole));
    expect(said(read(fold(only(events, "updates"))))).toEqual(said(whole));
    // Pieces tell nothing of todos and of files that children hand over.
    const pieces = said(read(fold(only(events, "messages"))));
    expect(pieces.main.messages).toEqual(said(whole).main.messages);
    expect(pieces.children.map(({ messages, files }) => ({ messages, files }))).toEqual(
      said(whole).children.map(({ messages, files }) => ({ messages, files })),
    );
    expect(pieces.usage).toEqual(whole.usage);
  });

  test("a text grows piece by piece and is never shorter or doubled", () => {
    let screen = emptyScreen;
    const lengths = new Map<string, number>();
    for (const event of events) {
      screen = foldEvent(screen, event);
      for (const agent of [screen.main, ...Object.values(screen.subagents)])
        for (const { id, text } of agent.messages) {
          expect(text.length).toBeGreaterThanOrEqual(lengths.get(id) ?? 0);
          lengths.set(id, text.length);
        }
    }
    const ids = screen.main.messages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("a call shows what the model is writing, then that it runs, then its result", () => {
    const seen: string[] = [];
    let screen = emptyScreen;
    for (const event of events) {
      screen = foldEvent(screen, event);
      const call = screen.main.messages
        .flatMap(({ calls }) => calls)
        .find(({ name }) => name === "write_file");
      if (call && seen.at(-1) !== call.status) seen.push(call.status);
      if (call?.status === "writing")
        expect('{"file_path":"/plan.md","content":"1. ask"}').toContain(call.argsText);
    }
    expect(seen).toEqual(["writing", "running", "done"]);
  });
});

describe("events that come again", () => {
  test("change nothing, wherever a reader was cut and from wherever the server sends again", () => {
    const whole = fold(events);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(events.length), fc.nat(events.length)), { maxLength: 5 }),
        (cuts) => {
          let screen = emptyScreen;
          let upTo = 0;
          for (const [stop, back] of cuts) {
            screen = fold(events.slice(Math.max(0, upTo - back), stop), screen);
            upTo = Math.max(upTo, stop > upTo - back ? stop : upTo);
          }
          screen = fold(events.slice(Math.max(0, upTo - 1)), screen);
          expect(screen).toEqual(whole);
        },
      ),
      { numRuns: 40 },
    );
    expect(fold(events, whole)).toBe(whole);
  });

  test("snapshots without ids are the same snapshot", () => {
    const whole = fold(events);
    const last = events.findLast(({ event }) => event === "values");
    const again = foldEvent(whole, { event: "values", data: structuredClone(last?.data) });
    expect(again.main).toBe(whole.main);
  });

  test("of an older run do not disturb the newer one", async () => {
    const agent = team({ checkpointer: new MemorySaver() });
    const first = await record(agent, asked("Go"), { modes: MODES });
    const second = await record(agent, asked("Again"), { modes: MODES, runId: "run-2" });
    const screen = fold([...first, ...second]);
    expect(screen.run).toMatchObject({ id: "run-2", status: "success" });
    expect(screen.main.messages.at(-1)?.text).toBe("Once more.");
    expect(fold(second, screen)).toBe(screen);
    expect(fold(first, screen)).toBe(screen);
  });
});

test("what an event does not touch keeps its identity", () => {
  let screen = emptyScreen;
  for (const event of events) {
    const next = foldEvent(screen, event);
    const [, ...namespace] = event.event.split("|");
    const kind = event.event.split("|")[0];
    if (kind === "messages" && namespace.length === 0) {
      const before = screen.main.messages;
      const untouched = next.main.messages.filter((message) => before.includes(message));
      expect(untouched.length).toBeGreaterThanOrEqual(before.length - 1);
      expect(next.main.todos).toBe(screen.main.todos);
    }
    if (kind === "updates" && namespace.length > 0) {
      const others = Object.keys(screen.subagents).filter((place) => place !== namespace.join("|"));
      for (const place of others) expect(next.subagents[place]).toBe(screen.subagents[place]);
      expect(next.main.todos).toBe(screen.main.todos);
    }
    if (kind === "values") {
      const same = next.main.messages.filter((message, index) => screen.main.messages[index] === message);
      expect(same.length).toBeGreaterThanOrEqual(screen.main.messages.length - 1);
    }
    screen = next;
  }
});

describe("what waits for a person", () => {
  const approving = () =>
    team({ interruptOn: { write_file: true }, checkpointer: new MemorySaver() }) as ReturnType<typeof team>;

  test("is shown once with its agent, and goes on with the run that answers it", async () => {
    const agent = approving();
    const asking = await record(agent, asked("Go"), { modes: MODES });
    const waiting = fold(asking);
    expect(waiting.run.status).toBe("interrupted");
    expect(waiting.interrupts).toHaveLength(1);
    expect(waiting.interrupts[0]).toMatchObject({
      namespace: [],
      value: { actionRequests: [{ name: "write_file" }] },
    });
    const call = (screen: Screen) =>
      screen.main.messages.flatMap(({ calls }) => calls).find(({ name }) => name === "write_file");
    expect(call(waiting)?.status).toBe("waiting");
    expect(fold(only(asking, "values")).interrupts).toEqual(waiting.interrupts);
    expect(fold(only(asking, "updates")).interrupts).toEqual(waiting.interrupts);

    const resume = new Command({ resume: { decisions: [{ type: "approve" }] } });
    const answered = await record(agent, resume, { modes: MODES, runId: "run-2" });
    expect(call(fold(answered.slice(0, 1), waiting))?.status).toBe("running");
    const next = fold(answered, waiting);
    expect(call(next)?.status).toBe("done");
    // The children write files too: each asks from its own place.
    expect(next.interrupts).toHaveLength(2);
    for (const { namespace } of next.interrupts) expect(namespace[0]).toMatch(/^tools:/);
    expect(new Set(Object.values(next.subagents).map(({ status }) => status))).toEqual(new Set(["waiting"]));
  });
});

test("the screen of a thread comes from its values and what waits in it; the events of its run go on from there", () => {
  const values = (name: "find" | "findLast") =>
    events[name](({ event, data }) => event === "values" && (data as Values).messages.length > 1)
      ?.data as Values;
  const rest = screenOfThread({ thread_id: "t", status: "idle", values: values("findLast") });
  expect(rest.run).toEqual({ threadId: "t", status: "idle" });
  expect(rest.main).toMatchObject({ status: "done", files: {} });
  expect(rest.main.messages).toHaveLength(5);

  const waiting = screenOfThread({
    status: "interrupted",
    values: values("find"),
    interrupts: { task: [{ id: "i", value: "?" }] },
  });
  expect(waiting.interrupts).toEqual([{ id: "i", value: "?", namespace: [] }]);
  expect(waiting.main.messages.at(-1)?.calls.map(({ status }) => status)).toEqual(["waiting", "waiting"]);

  const busy = screenOfThread({ status: "busy", values: values("find") });
  expect(busy.run.status).toBe("running");
  expect(read(fold(events, busy)).main.messages).toEqual(read(fold(events)).main.messages);
});
