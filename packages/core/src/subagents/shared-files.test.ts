/** Files in the state: what children see of them, and what comes back. */
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { callTool, say, type Turn } from "../testing/index.ts";
import { gate } from "./async/supervisors-for-tests.ts";
import { acts, anyTool, asked, orderOf, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";

const write = (path: string, content: string): Turn => callTool("write_file", { file_path: path, content });
const edit = (path: string, from: string, to: string): Turn =>
  callTool("edit_file", { file_path: path, old_string: from, new_string: to });
const file = (content: string) => ({ content, mimeType: "text/plain", created_at: "", modified_at: "" });
const contents = (files: Record<string, { content: unknown }>) =>
  Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, content]));

describe("files in the state", () => {
  test("a child sees them and gives back only what it changed or deleted", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Change."), taskCall("Delete."), taskCall("Look.")), say("done")),
      Change: acts(edit("/a", "one", "two"), write("/new", "n"), say("changed")),
      Delete: acts(callTool("delete", { file_path: "/b" }), say("deleted")),
      Look: acts(callTool("read_file", { file_path: "/c" }), say("looked")),
    });
    const files = { "/a": file("one"), "/b": file("b"), "/c": file("c") };
    const state = await createDeepAgent({ model }).invoke({ ...asked("Go."), files });
    expect(contents(state.files)).toEqual({ "/a": "two", "/c": "c", "/new": "n" });
    expect(state.files["/c"]).toBe(files["/c"]);
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["changed", "deleted", "looked"]);
  });

  test("a child sees what another call of the turn has changed before it began", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Write."), taskCall("Look.")), say("done")),
      Write: acts(write("/a", "fresh"), say("written")),
      Look: (request, step) =>
        step === 0 ? callTool("read_file", { file_path: "/a" }) : say(request.messages.at(-1)?.text ?? ""),
    });
    const agent = createDeepAgent({ model, toolConcurrency: { task: 1 } });
    const state = await agent.invoke(asked("Go."));
    expect(resultsOf(state)[1]?.text).toContain("fresh");
  });

  test("a file two children changed keeps the first version; the other is put beside it and told of", async () => {
    const isFirstDone = gate();
    const wait = anyTool("wait", () => isFirstDone.opened.then(() => "ok"));
    const order = createMiddleware({
      name: "order",
      wrapToolCall: async (request, handler) => {
        const result = await handler(request);
        if (request.toolCall.id === "c1") isFirstDone.open();
        return result;
      },
    });
    const model = troupe({
      Go: acts(
        tasks(taskCall("First.", "general-purpose", "c1"), taskCall("Second.", "general-purpose", "c2")),
        say("done"),
      ),
      First: acts(edit("/a", "one", "first"), say("first done")),
      Second: acts(callTool("wait"), edit("/a", "one", "second"), say("second done")),
    });
    const state = await createDeepAgent({ model, tools: [wait], middleware: [order] }).invoke({
      ...asked("Go."),
      files: { "/a": file("one") },
    });
    expect(contents(state.files)).toEqual({ "/a": "first", "/a.conflict-c2": "second" });
    const [first, second] = resultsOf(state);
    expect(first?.text).toBe("first done");
    expect(second?.text).toMatch(/^second done\n\nNote: '\/a' was also changed.*'\/a\.conflict-c2'/);
  });

  test("a child that deletes what another call changed does not undo that", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Keep."), taskCall("Delete.")), say("done")),
      Keep: acts(edit("/a", "one", "two"), say("kept")),
      Delete: acts(
        callTool("ls"),
        callTool("ls"),
        callTool("ls"),
        callTool("delete", { file_path: "/a" }),
        say("deleted"),
      ),
    });
    const state = await createDeepAgent({ model }).invoke({ ...asked("Go."), files: { "/a": file("one") } });
    expect(contents(state.files)).toEqual({ "/a": "two" });
    expect(resultsOf(state)[1]?.text).toContain("'/a' was changed by another call");
  });

  test("`returns` narrows what comes back", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Write.", "quiet")), say("done")),
      Write: acts(write("/a", "a"), say("written")),
    });
    const subagents = [{ name: "quiet", description: "Keeps its files.", returns: [] }];
    const state = await createDeepAgent({ model, subagents }).invoke(asked("Go."));
    expect(state.files).toEqual({});
  });

  test("a child that was resumed gives back its own changes, and none of what others did meanwhile", async () => {
    const pause = anyTool("pause", () => String(interrupt("go on?")));
    const model = troupe({
      Go: acts(tasks(taskCall("Pause."), taskCall("Change.")), say("done")),
      Pause: acts(write("/before", "1"), callTool("pause"), write("/after", "2"), say("paused")),
      Change: acts(edit("/a", "one", "two"), callTool("delete", { file_path: "/b" }), say("changed")),
    });
    const agent = createDeepAgent({ model, tools: [pause], checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    const files = { "/a": file("one"), "/b": file("b"), "/c": file("c") };
    const stopped = await agent.invoke({ ...asked("Go."), files }, config);
    expect(stopped.__interrupt__).toHaveLength(1);
    const state = await agent.invoke(new Command({ resume: "yes" }), config);
    expect(contents(state.files)).toEqual({ "/a": "two", "/c": "c", "/before": "1", "/after": "2" });
    expect(resultsOf(state).map(({ text }) => text)).toEqual(["paused", "changed"]);
  });

  test("parallel children lose nothing, whatever they touch (law of merging, by chance)", async () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 6; round += 1) {
      const count = 2 + random(15);
      const plans = Array.from({ length: count }, () => ({
        path: `/f${random(6)}`,
        kind: random(4),
        ticks: random(3),
      }));
      const model = troupe({
        Go: acts(
          tasks(...plans.map((_, i) => taskCall(`Work ${i}.`, "general-purpose", `c${i}`))),
          say("done"),
        ),
        Work: (request, step) => {
          const i = Number(/\d+/.exec(orderOf(request))?.[0]);
          const { path, kind, ticks } = plans[i] as (typeof plans)[number];
          if (step < ticks) return callTool("ls");
          if (step > ticks) return say(`w${i}`);
          if (kind === 0) return callTool("delete", { file_path: path });
          if (kind === 1) return write(`/own${i}`, `own ${i}`);
          return edit(path, "base", `by ${i}`);
        },
      });
      const files = Object.fromEntries([0, 1, 2, 3, 4, 5].map((i) => [`/f${i}`, file("base")]));
      const state = await createDeepAgent({ model }).invoke({ ...asked("Go."), files });
      const after = contents(state.files);
      plans.forEach(({ path, kind }, i) => {
        if (kind === 1) expect(after[`/own${i}`]).toBe(`own ${i}`);
        if (kind >= 2) expect([after[path], after[`${path}.conflict-c${i}`]]).toContain(`by ${i}`);
      });
      for (const path of Object.keys(files))
        if (!plans.some((plan) => plan.kind !== 1 && plan.path === path)) expect(after[path]).toBe("base");
    }
  });
});
