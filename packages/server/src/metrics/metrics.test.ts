import { readFile } from "node:fs/promises";
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { echoAgent, startServer, TOKEN } from "../server-for-tests.ts";
import { BoundedNames, Counter, Histogram } from "./exposition.ts";

const USAGE = {
  input_tokens: 12,
  output_tokens: 3,
  total_tokens: 15,
  input_token_details: { cache_read: 10 },
};

/** Hands its task to a subagent, and calls a tool that nobody has. */
function team() {
  const worker = scriptedModel([callTool("look_up_acme_salaries", {}), { text: "found", usage: USAGE }]);
  const boss = scriptedModel([
    callTool("task", { description: "look", subagent_type: "finder" }),
    { text: "done", usage: USAGE },
  ]);
  const subagents = [{ name: "finder", description: "Finds.", systemPrompt: "Find.", model: worker }];
  return createDeepAgent({ model: boss, subagents });
}

/** The value of a line without its labels' order in doubt. */
function seriesOf(text: string, series: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test("/metrics has runs, calls, tokens, the queue, the database and the event loop, and nothing of callers", async () => {
  const server = await startServer({
    agents: { echo: echoAgent(), team: team() },
    authenticate: ({ headers }) => {
      const name = headers.get("x-api-key");
      return name ? { identity: name } : undefined;
    },
  });
  onTestFinished(() => server.close());
  const as = { "x-api-key": "acme-incorporated", authorization: "" };
  const run = async (assistant_id: string, content: string) => {
    const body = { assistant_id, input: { messages: [{ role: "user", content }] }, if_not_exists: "create" };
    expect((await server.call("POST", "/threads/acme-thread/runs/wait", body, as)).status).toBe(200);
  };
  await run("team", "find acme's salaries");
  await run("echo", "write /acme.txt secret");
  await run("echo", "ask");
  const later = { assistant_id: "echo", input: null, after_seconds: 3_600, if_not_exists: "create" };
  await server.call("POST", "/threads/acme-later/runs", later, as);
  const { status, headers, body: text } = await server.call("GET", "/metrics", undefined, as);
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const counted = {
    'deepwright_runs_total{agent="team",status="success",outcome="done"}': 1,
    'deepwright_runs_total{agent="echo",status="success",outcome="done"}': 1,
    'deepwright_runs_total{agent="echo",status="interrupted",outcome="none"}': 1,
    'deepwright_tool_call_seconds_count{tool="write_file",result="ok"}': 1,
    'deepwright_tool_call_seconds_count{tool="task",result="ok"}': 1,
    deepwright_runs_active: 0,
    deepwright_queue_runs: 0,
    deepwright_queue_oldest_seconds: 0,
  };
  for (const [series, value] of Object.entries(counted))
    expect([series, seriesOf(text, series)]).toEqual([series, value]);
  expect(text).toMatch(/deepwright_model_tokens_total\{model="[^"]+",kind="output"\} [1-9]/);
  expect(text).toMatch(/deepwright_model_tokens_total\{model="[^"]+",kind="cached_input"\} 20\n/);
  expect(text).toMatch(/deepwright_database_seconds_count\{part="checkpoints"\} [1-9]/);
  expect(text).toMatch(/deepwright_database_seconds_count\{part="runs"\} [1-9]/);
  expect(text).toMatch(/deepwright_event_loop_delay_seconds\{quantile="0.99"\} \d/);
  expect(text).not.toContain("acme");
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  const dashboard = await readFile(
    new URL("../../../../deploy/grafana-dashboard.json", import.meta.url),
    "utf8",
  );
  const named = [...dashboard.matchAll(/deepwright_[a-z_]+/g)].map(([name]) => name);
  const known = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name as string);
  const base = (name: string) => name.replace(/_(?:bucket|sum|count)$/, "");
  expect(named.filter((name) => !known.includes(base(name)))).toEqual([]);
  expect(known.filter((name) => !named.some((one) => base(one) === name))).toEqual([]);
  const drawing = await server.call("GET", "/assistants/team/graph?xray=true", undefined, as);
  const ids = (drawing.body as { nodes: { id: string }[] }).nodes.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(["model_request", "tools:finder"]));
});

test("/metrics needs the token unless openMetrics is set; without a database the rest is still shown", async () => {
  for (const openMetrics of [false, true]) {
    const server = await startServer({ openMetrics });
    onTestFinished(() => server.close());
    expect((await fetch(`${server.url}/metrics`)).status).toBe(openMetrics ? 200 : 401);
    expect((await fetch(`${server.url}/threads/search`, { method: "POST" })).status).toBe(401);
    await server.app.storage.records.close();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
    expect(text).toContain("deepwright_runs_active 0");
    expect(text).not.toContain("deepwright_queue_runs");
  }
});

test("labels are escaped, buckets add up, and names beyond the limit or of odd form are counted as other", () => {
  const counter = new Counter("c", "Help.");
  counter.add({ a: 'q"\\\n' });
  counter.add({ a: 'q"\\\n' }, 2);
  expect(counter.text()).toBe('# HELP c Help.\n# TYPE c counter\nc{a="q\\"\\\\\\n"} 3');
  const histogram = new Histogram("h", "Help.", [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) histogram.observe({}, value);
  expect(histogram.text().split("\n").slice(2)).toEqual([
    'h_bucket{le="1"} 2',
    'h_bucket{le="2"} 3',
    'h_bucket{le="+Inf"} 4',
    "h_sum 12",
    "h_count 4",
  ]);
  const names = new BoundedNames(2);
  expect(["a", "b", "c", "a", "two words"].map((name) => names.of(name))).toEqual([
    "a",
    "b",
    "other",
    "a",
    "other",
  ]);
});
