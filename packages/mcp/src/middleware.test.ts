import { join } from "node:path";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, createSubAgentMiddleware, toolEffect } from "deepwright";
import { estimateTokens } from "deepwright/internal";
import { callTool, firstDifference, scriptedModel } from "deepwright/testing";
import { createAgent } from "langchain";
import { expect, test } from "vitest";
import type { Mcp } from "./index.ts";
import { opened, projectWith, scratch, toolsProgram } from "./mcp-for-tests.ts";

const many = async () => opened({ servers: { acme: toolsProgram(join(await scratch(), "log"), 200) } });
const namesIn = (call: { readonly tools: readonly unknown[] } | undefined): string[] =>
  (call?.tools ?? []).map((tool) => (tool as { name: string }).name);
const own = createDeepAgent({ model: scriptedModel([]) })
  .describe()
  .tools.map(({ name }) => name);

test("200 tools cost at most 2,000 tokens of a request: an index and a search", async () => {
  const { mcp } = await many();
  expect(mcp.tools.length).toBeGreaterThan(200);
  const model = scriptedModel(["hello"]);
  await createDeepAgent({ model, middleware: [mcp.middleware] }).invoke({ messages: "hello" });
  const added = model.calls[0]?.tools.filter((tool) => !own.includes((tool as { name: string }).name)) ?? [];
  expect(added.map((tool) => (tool as { name: string }).name)).toEqual(["search_mcp_tools"]);
  const cost = (tools: readonly unknown[]): number =>
    tools.reduce<number>(
      (sum, tool) => sum + estimateTokens(JSON.stringify(convertToOpenAITool(tool as never))),
      0,
    );
  expect(cost(mcp.tools)).toBeGreaterThan(10_000);
  expect(cost(added)).toBeLessThanOrEqual(2_000);
  expect(String((added[0] as { description: string }).description)).toContain("create_issue");
});

test("what was found can be called from the next step on, in every later run, and stands behind what was there", async () => {
  const { mcp } = await many();
  const model = scriptedModel([
    callTool("search_mcp_tools", { query: "delete an invoice", limit: 2 }),
    callTool("mcp__acme__delete_invoice", { id: "7" }),
    "done",
    callTool("search_mcp_tools", { query: "mcp__acme__count_report" }),
    "found",
    "still there",
  ]);
  const saver = new MemorySaver();
  const config = { configurable: { thread_id: "t" } };
  const agentNow = () => createDeepAgent({ model, middleware: [mcp.middleware], checkpointer: saver });
  const first = await agentNow().invoke({ messages: "go" }, config);
  expect(first.messages.filter((one) => one.getType() === "tool").map((one) => String(one.content))).toEqual([
    expect.stringMatching(/^You can call these now:\n- mcp__acme__delete_invoice: Takes the invoice/),
    "done 7",
  ]);
  await agentNow().invoke({ messages: "more" }, config);
  await agentNow().invoke({ messages: "again" }, config);
  const [start = [], after = [], , , later = [], last = []] = model.calls.map(namesIn);
  expect(start.at(-1)).toBe("search_mcp_tools");
  expect(after).toEqual([...start, "mcp__acme__delete_invoice", expect.any(String)]);
  expect(later.slice(0, after.length)).toEqual(after);
  expect(later).toContain("mcp__acme__count_report");
  expect(last).toEqual(later);
  const search = model.calls[0]?.tools.at(-1);
  expect(model.calls.every(({ tools }) => tools.includes(search as never))).toBe(true);
});

test("a name of the index works without a search, is checked by its schema, and is there from then on", async () => {
  const { mcp } = await many();
  const model = scriptedModel([
    callTool("mcp__acme__lock_branch", {}),
    callTool("mcp__acme__lock_branch", { id: "main" }),
    callTool("mcp__acme__no_such", {}),
    callTool("search_mcp_tools", { query: "zzzzqq" }),
    "done",
  ]);
  const { messages } = await createDeepAgent({ model, middleware: [mcp.middleware] }).invoke({
    messages: "go",
  });
  const results = messages.filter((one) => one.getType() === "tool").map((one) => String(one.content));
  expect(results[0]).toBe(
    "Error: mcp__acme__lock_branch needs id. You can see its schema now: call it again.",
  );
  expect(results[1]).toBe("done main");
  expect(results[2]).toContain("There is no tool 'mcp__acme__no_such'");
  expect(results[3]).toContain("No tool matches 'zzzzqq'");
  expect(namesIn(model.calls[1])).toContain("mcp__acme__lock_branch");
});

test("a tool that comes while an agent works is there in its next run; the run at work stays as it is", async () => {
  const { mcp } = await opened({ servers: { acme: toolsProgram() }, toolTokens: 50_000 });
  const model = scriptedModel([
    callTool("mcp__acme__grow", {}),
    callTool("mcp__acme__echo", { words: "a" }),
    "done",
    "again",
  ]);
  const agent = createDeepAgent({ model, middleware: [mcp.middleware], checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "t" } };
  await agent.invoke({ messages: "go" }, config);
  await expect.poll(() => mcp.tools.map(({ name }) => name)).toContain("mcp__acme__later");
  await agent.invoke({ messages: "go on" }, config);
  expect(model.calls.map((call) => namesIn(call).includes("mcp__acme__later"))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  const [first, second, third] = model.calls as never[];
  expect([
    firstDifference(first as never, second as never),
    firstDifference(second as never, third as never),
  ]).toEqual([undefined, undefined]);
});

test("calls are asked about unless they only read, by name or by how names begin; an approval is answered elsewhere", async () => {
  const { mcp } = await many();
  const model = scriptedModel([
    callTool("mcp__acme__echo", { words: "free" }),
    callTool("mcp__acme__delete_secret", { id: "1" }),
    "done",
  ]);
  const saver = new MemorySaver();
  const make = (): ReturnType<typeof createDeepAgent> =>
    createDeepAgent({
      model,
      middleware: [mcp.middleware],
      checkpointer: saver,
      interruptOn: { ...mcp.interruptOn },
    }) as never;
  const config = { configurable: { thread_id: "t" } };
  const waiting = (await make().invoke({ messages: "go" }, config)) as Record<string, any>;
  expect(waiting.__interrupt__[0].value.actionRequests).toMatchObject([{ name: "mcp__acme__delete_secret" }]);
  const { Command } = await import("@langchain/langgraph");
  const resume = new Command({ resume: { decisions: [{ type: "approve" }] } });
  const result = (await make().invoke(resume as never, config)) as { messages: { content: unknown }[] };
  expect(result.messages.map(({ content }) => content)).toEqual(
    expect.arrayContaining(["echo: free", "done 1", "done"]),
  );
});

test("a tool that says it reads is believed of a server of the caller, and not of one of a project", async () => {
  const servers = { acme: toolsProgram() };
  const project = await projectWith(servers);
  const effects = (mcp: Mcp) =>
    Object.fromEntries(mcp.tools.map((tool) => [tool.name.slice("mcp__acme__".length), toolEffect(tool)]));
  const ofCaller = effects((await opened({ servers })).mcp);
  const ofProject = effects((await opened({ project, home: await scratch(), trust: () => true })).mcp);
  expect([ofCaller.echo, ofCaller.die]).toEqual(["reads", "unknown"]);
  expect([ofProject.echo, ofProject.die]).toEqual(["unknown", "unknown"]);
});

test("a subagent that is given them searches for itself", async () => {
  const { mcp } = await many();
  const model = scriptedModel([
    callTool("task", { subagent_type: "general-purpose", description: "Delete it." }),
    callTool("search_mcp_tools", { query: "delete_issue", limit: 1 }),
    callTool("mcp__acme__delete_issue", { id: "9" }),
    "It is gone.",
    "done",
  ]);
  const middleware = [
    createSubAgentMiddleware({ generalPurposeMiddleware: [mcp.middleware] }),
    mcp.middleware,
  ];
  await createDeepAgent({ model, middleware }).invoke({ messages: "go" });
  expect(model.calls.map((call) => namesIn(call).includes("mcp__acme__delete_issue"))).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
  expect(JSON.stringify(model.calls[3]?.messages.at(-1)?.content)).toContain("done 9");
});

test("it works in an agent of LangChain's own", async () => {
  const { mcp } = await opened({ servers: { acme: toolsProgram() }, toolTokens: 50_000 });
  const model = scriptedModel([callTool("mcp__acme__echo", { words: "there" }), "done"]);
  const agent = createAgent({ model, tools: [], middleware: [mcp.middleware] as never });
  const input = { messages: [{ role: "user", content: "go" }] };
  const { messages } = (await agent.invoke(input as never)) as unknown as {
    messages: { content: unknown }[];
  };
  expect(messages.map(({ content }) => content)).toContain("echo: there");
});
