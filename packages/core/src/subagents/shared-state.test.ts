/** The rest of the state: which keys go into a child and how they come back. */
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import { createMiddleware, modelCallLimitMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, anyTool, asked, orderOf, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";

const schema = new StateSchema({
  topic: z.string().optional(),
  findings: new ReducedValue(z.array(z.string()).default([]), {
    inputSchema: z.string(),
    reducer: (left: string[], right: string) => [...left, right],
  }),
  count: new ReducedValue(z.number().default(0), { reducer: (left: number, right: number) => left + right }),
});

const set = anyTool("set", (update, runtime) => {
  const messages = [{ role: "tool", content: "set", tool_call_id: runtime.toolCallId }];
  return new Command({ update: { ...update, messages } });
});
const show = anyTool("show", (_, { state }) =>
  JSON.stringify([state.topic, state.findings, state.count, state.todos]),
);

describe("custom keys of the state", () => {
  test("go into a child and come back through the reducers of its parent", async () => {
    const model = troupe({
      Go: acts(
        callTool("set", { findings: "base", count: 5, topic: "stars" }),
        tasks(taskCall("Add a."), taskCall("Add b."), taskCall("Look.")),
        say("done"),
      ),
      Add: (request, step) => {
        const letter = orderOf(request).slice(4, 5);
        return step === 0 ? callTool("set", { findings: letter, count: 1 }) : say(letter);
      },
      Look: (request, step) => (step === 0 ? callTool("show") : say(request.messages.at(-1)?.text ?? "")),
    });
    const agent = createDeepAgent({ model, tools: [set, show], stateSchema: schema });
    const state = await agent.invoke(asked("Go."));
    expect([...state.findings].sort()).toEqual(["a", "b", "base"]);
    expect(state.count).toBe(7);
    expect(JSON.parse(resultsOf(state).at(-1)?.text ?? "")).toEqual(["stars", ["base"], 5, []]);
  });

  test("a key without a reducer that two children set is told of, and the run goes on", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Set a."), taskCall("Set b.")), say("done")),
      Set: (request, step) => {
        const letter = orderOf(request).slice(4, 5);
        return step === 0 ? callTool("set", { topic: letter }) : say(`chose ${letter}`);
      },
    });
    const state = await createDeepAgent({ model, tools: [set], stateSchema: schema }).invoke(asked("Go."));
    const texts = resultsOf(state).map(({ text }) => text);
    expect(["a", "b"]).toContain(state.topic);
    expect(texts.filter((text) => text.includes("'topic' was also set by another call"))).toHaveLength(1);
    expect(texts.join()).toMatch(/chose a[\s\S]*chose b/);
  });

  test("`returns` names what may come back", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Set.", "narrow")), say("done")),
      Set: acts(callTool("set", { topic: "x", count: 3 }), say("set")),
    });
    const subagents = [{ name: "narrow", description: "Counts.", returns: ["count"] }];
    const agent = createDeepAgent({ model, tools: [set], stateSchema: schema, subagents });
    const state = await agent.invoke(asked("Go."));
    expect([state.count, state.topic]).toEqual([3, undefined]);
  });

  test.each([2, 8, 32])(
    "PAINS 10: %i parallel children with state of any middleware never throw",
    async (count) => {
      const counting = (i: number) =>
        createMiddleware({
          name: `Counting${i}`,
          stateSchema: z.object({
            seen: z.number().default(0),
            [`own${i}`]: z.any(),
            shared: z.string().default(""),
          }),
          beforeModel: (state: any) => ({
            seen: (state.seen ?? 0) + 1,
            shared: `by ${i}`,
            [`own${i}`]: { i },
          }),
        });
      const subagents = Array.from({ length: count }, (_, i) => ({
        name: `s${i}`,
        description: "Counts.",
        middleware: [counting(i % 3), modelCallLimitMiddleware({ threadLimit: 10 })],
      }));
      const model = troupe({
        Go: acts(tasks(...subagents.map(({ name }, i) => taskCall(`Work ${i}.`, name))), say("done")),
        Work: acts(callTool("write_todos", { todos: [] }), callTool("ls"), say("worked")),
      });
      const agent = createDeepAgent({
        model,
        subagents,
        middleware: [counting(0), modelCallLimitMiddleware({ threadLimit: 10 })],
      });
      const state = (await agent.invoke(asked("Go."))) as any;
      expect(resultsOf(state).map(({ text, status }) => [text, status])).toEqual(
        subagents.map(() => ["worked", "success"]),
      );
      expect(state.seen).toBe(2);
    },
  );
});
