/** Runs inside a run that has claimed its thread. */
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, lastText, onThread, outline, scripted } from "../fixtures/agents.ts";
import { claiming, echo, textOf } from "../fixtures/claiming-agent.ts";
import { MemoryClaimingSaver } from "../fixtures/claiming-saver.ts";
import type { AgentGraph } from "../graph/agent-graph.ts";

const T = onThread("t");

describe("a run inside a run", () => {
  /** A parent that claims and whose tool runs `body`. */
  function parent(body: (config: any) => Promise<unknown>, mode: "queue" | "refuse" = "queue") {
    const tool = anyTool("delegate", async (_, config) => String(await body(config)));
    return claiming([callTool("delegate"), say("done")], { tools: [tool] }, mode);
  }

  test.each<[string, (child: AgentGraph, config: any) => Promise<unknown>]>([
    ["with the config of the tool", (child, config) => child.invoke(ask("child"), config)],
    ["without", (child) => child.invoke(ask("child"))],
    ["with the same thread", (child) => child.invoke(ask("child"), T)],
  ])("uses the claim it is in: %s", async (_, run) => {
    const saver = new MemoryClaimingSaver();
    const { agent: child } = claiming(echo, { checkpointer: saver });
    const setup = parent(async (config) => lastText((await run(child, config)) as AgentState));
    const state = (await setup.agent.invoke(ask(), T)) as AgentState;
    expect(textOf(state)).toContain("re: child");
    expect([setup.saver.given, setup.saver.isClaimed("t"), saver.given]).toEqual([1, false, 0]);
  });

  test("a tool may update the thread of its own run", async () => {
    const setup = parent(async () => {
      await setup.agent.updateState(T, { messages: [new HumanMessage("from the tool")] });
      return "updated";
    });
    expect(outline(((await setup.agent.invoke(ask(), T)) as AgentState).messages)).toContain(
      "tool delegate ok",
    );
    expect([setup.saver.given, setup.saver.isClaimed("t")]).toEqual([1, false]);
  });

  test("claims another thread for itself, and comes back to the first without waiting for it", async () => {
    const { agent: innermost } = claiming(echo);
    const back = anyTool("back", async () =>
      lastText((await innermost.invoke(ask("back"), T)) as AgentState),
    );
    const { agent: child } = claiming([callTool("back"), say("child done")], { tools: [back] });
    const setup = parent(async () => lastText((await child.invoke(ask(), onThread("u"))) as AgentState));
    const state = (await setup.agent.invoke(ask(), T)) as AgentState;
    expect(textOf(state)).toContain("child done");
    const { saver } = setup;
    expect([saver.given, saver.isClaimed("t"), saver.isClaimed("u")]).toEqual([2, false, false]);
  });

  test.each([new MemoryClaimingSaver(), new MemorySaver()])(
    "an agent with the checkpointer of the graph around it claims there, if it can",
    async (checkpointer) => {
      const { agent } = scripted(echo, { checkpointer: true, threadClaim: { mode: "queue" } });
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("agent", agent as never)
        .addEdge(START, "agent" as never)
        .compile({ checkpointer });
      const run = graph.invoke(ask(), T);
      if (!(checkpointer instanceof MemoryClaimingSaver))
        return expect(run).rejects.toMatchObject({ code: "CLAIM_UNSUPPORTED" });
      expect(textOf(await run)).toEqual(["Go.", "re: Go."]);
      expect([checkpointer.given, checkpointer.isClaimed("t")]).toEqual([1, false]);
    },
  );
});
