/** Approvals in a whole agent: with permissions, files and subagents. */
import type { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { createSubAgentMiddleware } from "./delegation.ts";
import { type ScriptedCall, say, scriptedModel } from "./testing/index.ts";

const T = { configurable: { thread_id: "t" } };
const ask = (text = "Go.") => ({ messages: [{ role: "user", content: text }] });
const decide = (...decisions: unknown[]) => new Command({ resume: { decisions } }) as any;
const approve = { type: "approve" };
const write = (file_path: string, id = "w"): ScriptedCall => ({
  name: "write_file",
  args: { file_path, content: "text" },
  id,
});

/** A model that makes these calls when somebody speaks to it, and says done to results. */
const worker = (...calls: ScriptedCall[]) =>
  scriptedModel(({ messages }) => (messages.at(-1)?.type === "tool" ? say("done") : { toolCalls: calls }));
const questions = (state: any): any[] => (state.__interrupt__ ?? []).map((pending: any) => pending.value);
const results = (state: any): ToolMessage[] =>
  state.messages.filter((message: any) => message.type === "tool");

describe("files that a person must agree to", () => {
  const RULES = [
    { operations: ["write"], paths: ["/secret/**"], mode: "deny" },
    { operations: ["write"], paths: ["/asked/**"], mode: "interrupt" },
  ] as any;
  const agentThat = (...calls: ScriptedCall[]) =>
    createDeepAgent({ model: worker(...calls), permissions: RULES, checkpointer: new MemorySaver() });

  test("are written once they are approved; others need nobody", async () => {
    const agent = agentThat(write("/asked/a.md", "a"), write("/free.md", "b"));
    const waiting: any = await agent.invoke(ask(), T);
    expect(questions(waiting)[0].actionRequests).toMatchObject([{ name: "write_file" }]);
    expect(Object.keys(waiting.files ?? {})).toEqual([]);
    const state: any = await agent.invoke(decide(approve), T);
    expect(results(state).map((result) => result.status)).toEqual(["success", "success"]);
    expect(Object.keys(state.files).sort()).toEqual(["/asked/a.md", "/free.md"]);
  });

  test("HI-03 an edit to a path that is denied is refused; the thread stays usable", async () => {
    const agent = agentThat(write("/asked/a.md"));
    await agent.invoke(ask(), T);
    for (const path of ["/secret/a.md", "/secret//./a.md"]) {
      const editedAction = { name: "write_file", args: { file_path: path, content: "x" } };
      const again: any = await agent.invoke(decide({ type: "edit", editedAction }), T);
      expect(questions(again)[0].error).toMatch(/not valid/);
    }
    const editedAction = { name: "write_file", args: { file_path: "/asked/b.md", content: "x" } };
    const state: any = await agent.invoke(decide({ type: "edit", editedAction }), T);
    expect(Object.keys(state.files)).toEqual(["/asked/b.md"]);
  });

  test("rejected, they are not written, by no spelling of the path", async () => {
    const agent = agentThat(write("/asked//./a.md"));
    await agent.invoke(ask(), T);
    const state: any = await agent.invoke(decide({ type: "reject" }), T);
    expect([results(state)[0]?.status, Object.keys(state.files ?? {})]).toEqual(["error", []]);
  });

  test("an approval for the thread holds for the file in any spelling, and for the same content only", async () => {
    const spelled = (file_path: string, content: string) => ({
      name: "write_file",
      args: { file_path, content },
    });
    const turns = [
      spelled("/asked/a.md", "text"),
      spelled("//asked/./a.md", "text"),
      spelled("/asked/a.md", "other"),
    ];
    let turn = 0;
    const model = scriptedModel(({ messages }) => {
      if (messages.at(-1)?.type === "tool") return say("done");
      turn += 1;
      return { toolCalls: [{ ...(turns[turn - 1] as object), id: `w${turn}` } as ScriptedCall] };
    });
    const agent = createDeepAgent({ model, permissions: RULES, checkpointer: new MemorySaver() });
    await agent.invoke(ask(), T);
    await agent.invoke(decide({ ...approve, remember: "thread" }), T);
    expect(questions(await agent.invoke(ask(), T))).toEqual([]);
    expect(questions(await agent.invoke(ask(), T))).toHaveLength(1);
  });
});

describe("subagents that ask", () => {
  const paid: unknown[] = [];
  const pay = tool(
    (args) => {
      paid.push(args);
      return "paid";
    },
    { name: "pay", description: "Pays.", schema: z.object({ amount: z.number() }) },
  );
  const PAY: ScriptedCall = { name: "pay", args: { amount: 5 }, id: "pay" };
  const task = (subagent_type: string): ScriptedCall => ({
    name: "task",
    args: { description: "Go.", subagent_type },
    id: `task-${subagent_type}`,
  });
  const child = (name: string, model: unknown, more: object = {}) => ({
    ...{ name, description: name, systemPrompt: name, model, tools: [pay] },
    ...more,
  });

  test.each<[string, object]>([
    ["by interruptOn", { interruptOn: { pay: true } }],
    ["by permissions", { permissions: [{ operations: ["write"], paths: ["/**"], mode: "interrupt" }] }],
  ])("need a checkpointer: its absence ends the first run before any model is asked, %s", async (_, more) => {
    const model = worker(task("clerk"));
    const agent = createDeepAgent({ model, subagents: [child("clerk", worker(PAY), more)] as any });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "CHECKPOINTER_REQUIRED" });
    expect(model.callCount).toBe(0);
  });

  test("one that does not ask needs none", async () => {
    const clerk = child("clerk", worker(PAY), { interruptOn: { pay: false } });
    const agent = createDeepAgent({ model: worker(task("clerk")), subagents: [clerk] as any });
    expect(((await agent.invoke(ask())) as any).messages.at(-1).text).toBe("done");
  });

  test("the other children of the agent run to their end meanwhile, and not again", async () => {
    paid.length = 0;
    const quick = worker(PAY);
    const subagents = [
      child("asking", worker({ ...PAY, args: { amount: 50 } }), { interruptOn: { pay: true } }),
      child("quick", quick),
    ];
    const agent = createDeepAgent({
      model: worker(task("asking"), task("quick")),
      subagents: subagents as any,
      checkpointer: new MemorySaver(),
    });
    const waiting: any = await agent.invoke(ask(), T);
    expect(questions(waiting)).toMatchObject([{ agentPath: ["asking"] }]);
    expect([paid, quick.callCount]).toEqual([[{ amount: 5 }], 2]);
    const state: any = await agent.invoke(decide(approve), T);
    expect(results(state).map((result) => result.status)).toEqual(["success", "success"]);
    expect([paid, quick.callCount]).toEqual([[{ amount: 5 }, { amount: 50 }], 2]);
  });

  test("a gated task is asked about first; what was approved there does not hold inside", async () => {
    paid.length = 0;
    const inner = createSubAgentMiddleware({
      subagents: [child("clerk", worker(PAY), { interruptOn: { pay: true } })] as any,
    });
    const deputy = child("deputy", worker(task("clerk")), { middleware: [inner] });
    const agent = createDeepAgent({
      model: worker(task("deputy")),
      subagents: [deputy] as any,
      interruptOn: { task: true },
      checkpointer: new MemorySaver(),
    });
    const paths: unknown[] = [];
    let state: any = await agent.invoke(ask(), T);
    while (questions(state).length > 0) {
      const [{ actionRequests, agentPath = [] }] = questions(state);
      paths.push([...agentPath, actionRequests[0].name]);
      state = await agent.invoke(decide(approve), T);
    }
    expect(paths).toEqual([["task"], ["deputy", "task"], ["deputy", "clerk", "pay"]]);
    expect([paid, state.messages.at(-1).text]).toEqual([[{ amount: 5 }], "done"]);
  });
});
