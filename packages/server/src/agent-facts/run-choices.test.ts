import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { ApprovalModes } from "../approval-modes/approval-modes.ts";
import { saying, twoTenants } from "../http/two-tenants-for-tests.ts";
import { PROMPT, startServer } from "../server-for-tests.ts";
import { AgentKinds } from "./agent-kinds.ts";
import { ModelChoices } from "./model-choices.ts";

const scripted = (words: string) => scriptedModel(() => say(words), { record: false });

function choosing() {
  const model = scripted("own");
  const others = {
    other: async () => scripted("other"),
    broken: () => Promise.reject(new Error("There is no key.")),
  };
  return createDeepAgent({
    model,
    middleware: [
      new ApprovalModes({ isContained: false }).guard,
      new ModelChoices({ model, others }).guard,
      new AgentKinds({ words: { alone: "Work alone.", team: "Lead a team." } }).guard,
    ] as never,
  });
}

test("a run is begun with a model, a mode and a budget that the agent keeps to; others are refused", async () => {
  const plain = createDeepAgent({ model: scripted("plain") });
  const { alice, bob } = await twoTenants("SQLite", { choosing: choosing(), plain });
  const run = async (configurable: object, assistant_id = "choosing", as = alice) =>
    as("POST", "/runs/wait", { ...saying("hello"), assistant_id, config: { configurable } });
  const words = async (configurable: object) => (await run(configurable)).body.messages.at(-1).content;
  expect(await words({})).toBe("own");
  expect(await words({ run_model: "other", approval_mode: "plan" })).toBe("other");
  expect(await words({ run_budget: { maxTokens: 1 } })).toBe("hello");
  expect((await alice("GET", "/assistants/choosing/facts")).body.choices).toEqual({
    approval_modes: ["ask", "accept-edits", "plan", "auto"],
    approval_mode: "ask",
    models: [
      { name: "other", is_priced: false },
      { name: "broken", is_priced: false },
    ],
    agent_kinds: ["alone", "team"],
    budget: true,
    rules: ["thread"],
  });
  const refusals: readonly (readonly [object, string, string?])[] = [
    [{ run_model: "secret" }, "config.configurable.run_model: must be one of other, broken."],
    [{ run_model: "toString" }, "run_model"],
    [{ approval_mode: "yes" }, "config.configurable.approval_mode: must be one of"],
    [{ approval_rules: [{ prefix: ["npm"] }] }, "config.configurable.approval_rules: must be a list"],
    [{ approval_rules: [] }, "this agent has no approval modes", "plain"],
    [{ run_budget: { maxCost: -1 } }, "config.configurable.run_budget: "],
    [{ run_budget: { prices: {} } }, "cannot state prices"],
    [{ run_budget: { maxDollars: 1 } }, "maxDollars"],
    [{ approval_mode: "plan" }, "this agent has no approval modes", "plain"],
    [{ run_model: "other" }, "this agent has no choice of models", "plain"],
    [{ agent_kind: "boss" }, "config.configurable.agent_kind: must be one of alone, team."],
    [{ agent_kind: "toString" }, "agent_kind"],
    [{ agent_kind: "team" }, "this agent has no kinds", "plain"],
  ];
  for (const [configurable, expected, assistant] of refusals) {
    const { status, body } = await run(configurable, assistant);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(expected)]);
  }
  const config = { configurable: { run_model: "secret" } };
  const { body: own } = await bob("POST", "/assistants", { graph_id: "choosing", config });
  expect((await run({}, own.assistant_id, bob)).status).toBe(400);
});

test("the kind of a run stands in the prompt of the agent, and not in those of its subagents", async () => {
  const model = scriptedModel([
    callTool("task", { description: "Look.", subagent_type: "general-purpose" }),
    say("looked"),
    say("done"),
    say("alone"),
  ]);
  const kinds = new AgentKinds({ words: { alone: "Work alone.", team: "Lead a team." } });
  const agent = createDeepAgent({ model, middleware: [kinds.guard] as never });
  const server = await startServer({ agents: { agent } });
  onTestFinished(() => server.close());
  const run = (configurable: object) =>
    server.call("POST", "/runs/wait", { ...saying("go"), assistant_id: "agent", config: { configurable } });
  await run({ agent_kind: "team" });
  await run({});
  const prompts = model.calls.map(({ messages }) => String(messages[0]?.text));
  const kindOf = (prompt: string) => /Work alone\.|Lead a team\./.exec(prompt)?.[0];
  expect(prompts.map(kindOf)).toEqual(["Lead a team.", undefined, "Lead a team.", "Work alone."]);
});

test("an answer allows a tool for the thread, or for the project where the server keeps rules", async () => {
  const saved: unknown[] = [];
  const modes = new ApprovalModes({
    isContained: false,
    save: async (rule) => {
      saved.push(rule);
    },
  });
  const writing = createDeepAgent({
    model: scriptedModel(
      ({ messages }) => {
        const last = messages.at(-1);
        return last?.getType() === "tool"
          ? say("done")
          : callTool("write_file", { file_path: `/${messages.length}.md`, content: "x" });
      },
      { record: false },
    ),
    middleware: [modes.guard] as never,
    interruptOn: modes.gate({ write_file: {} }) as never,
  });
  const server = await startServer({ agents: { writing }, runs: PROMPT });
  onTestFinished(() => server.close());
  const begun = async (thread: string) => {
    await server.call("POST", `/threads/${thread}/runs/wait`, { ...saying("go"), assistant_id: "writing" });
    return (await server.call("GET", `/threads/${thread}/interrupts`)).body as { id: string }[];
  };
  const answered = async (thread: string, id: string | undefined, scope: string) => {
    const { status } = await server.call("POST", `/threads/${thread}/interrupts/${id}`, {
      value: { decisions: [{ type: "approve" }] },
      allow: [{ tool: "write_file", scope }],
    });
    await expect.poll(async () => (await server.call("GET", `/threads/${thread}`)).body.status).toBe("idle");
    return status;
  };
  const [one, two] = [
    (await server.call("POST", "/threads", {})).body.thread_id,
    (await server.call("POST", "/threads", {})).body.thread_id,
  ];
  const [first] = await begun(one);
  expect(await answered(one, first?.id, "thread")).toBeLessThan(300);
  await server.call("POST", `/threads/${one}/messages`, { kind: "follow-up", content: "again" });
  await expect
    .poll(
      async () => Object.keys((await server.call("GET", `/threads/${one}/state`)).body.values.files).length,
    )
    .toBe(2);
  const [other] = await begun(two);
  expect(saved).toEqual([]);
  expect(await answered(two, other?.id, "project")).toBeLessThan(300);
  expect(saved).toEqual([{ tool: "write_file" }]);
  expect(await begun(two)).toEqual([]);
  expect((await server.call("GET", "/assistants/writing/facts")).body.choices.rules).toEqual([
    "thread",
    "project",
  ]);
});
