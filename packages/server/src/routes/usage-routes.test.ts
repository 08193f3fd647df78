import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, test } from "vitest";
import { saying, twoTenants } from "../http/two-tenants-for-tests.ts";
import { reportOf } from "./usage-routes.ts";

function counting() {
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.text === "delegate")
        return callTool("task", { subagent_type: "general-purpose", description: "help" });
      return say("done");
    },
    { record: false },
  );
  return createDeepAgent({ model, budget: {} });
}

test.each(["SQLite", "Postgres"] as const)(
  "on %s, usage is counted by agent, assistant and day, to its owner alone",
  async (place) => {
    const { alice, bob } = await twoTenants(place, { counting: counting() });
    const { body: thread } = await alice("POST", "/threads", {});
    const path = `/threads/${thread.thread_id}`;
    const run = async (text: string, assistant_id = "counting") =>
      alice("POST", `${path}/runs/wait`, { ...saying(text), assistant_id });
    await run("hello");
    await run("delegate");
    await run("hello", "echo");
    const { body: usage } = await alice("GET", `${path}/usage`);
    expect(usage).toMatchObject({ uncounted_runs: 1, forecast: null, truncated: false });
    expect(usage.total).toMatchObject({ runs: 2, calls: 4 });
    expect(usage.total.tokens).toBeGreaterThan(0);
    expect(usage.agents.map((agent: { agent_path: string[] }) => agent.agent_path).sort()).toEqual([
      [],
      ["general-purpose"],
    ]);
    expect(usage.assistants).toHaveLength(1);
    expect(usage.last_run).toMatchObject({ runs: 1, calls: 3 });
    expect(usage.models).toEqual([{ ...usage.total, runs: 3, model: expect.any(String) }]);
    expect(usage.threads).toEqual([{ ...usage.total, thread_id: thread.thread_id }]);
    expect(usage.days).toEqual([{ ...usage.total, day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) }]);
    expect((await alice("GET", "/usage?days=1")).body).toEqual(usage);
    expect((await bob("GET", `${path}/usage`)).status).toBe(404);
    expect((await bob("GET", "/usage")).body).toMatchObject({ total: { runs: 0 }, cached_share: null });
  },
);

test("subagents have a forecast of their own, from runs that had some", () => {
  const run = (tokens: number, inner: readonly number[]) => {
    const agents = [
      { agentPath: [], tokens },
      ...inner.map((used) => ({ agentPath: ["helper"], tokens: used })),
    ];
    return {
      assistantId: "a",
      threadId: "t",
      endedAt: 0,
      outcome: { kind: "done", usage: { tokens, agents } },
    };
  };
  const fanOuts = Array.from({ length: 20 }, (_, index) => run(1_000, [index, 1]));
  const report = reportOf([...fanOuts, run(1_000, [])]);
  expect(report.forecast?.samples).toBe(21);
  expect(report.fan_out).toMatchObject({ samples: 20, tokens: { p50: 10, p90: 18 } });
  expect(reportOf(fanOuts.slice(1)).fan_out).toBeNull();
});

test("a forecast needs twenty runs, and numbers that are none count as nothing", () => {
  const runs = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      assistantId: "a",
      threadId: "t",
      endedAt: 0,
      outcome: { kind: "done", usage: { tokens: index + 1, cost: (index + 1) / 10 } },
    }));
  expect(reportOf(runs(19)).forecast).toBeNull();
  expect(reportOf(runs(20)).forecast).toEqual({
    samples: 20,
    tokens: { p50: 10, p90: 18 },
    cost: { p50: 1, p90: 1.8 },
  });
  const odd = { kind: "done", usage: { tokens: "many", cost: Number.NaN, calls: -3, agents: [null, {}] } };
  expect(reportOf([{ assistantId: "a", threadId: "t", endedAt: 0, outcome: odd }]).total).toMatchObject({
    runs: 1,
    tokens: 0,
    cost: 0,
    calls: 0,
  });
});
