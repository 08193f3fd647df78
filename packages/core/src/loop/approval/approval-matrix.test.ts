/** Every mix of what can become of a call, over one to five calls of a turn. */
import type { BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { say } from "../../testing/index.ts";
import { type AgentState, ask, onThread, scripted } from "../fixtures/agents.ts";
import { firm } from "../fixtures/firm.ts";
import { checkMix, decisionsFor, KINDS, type Kind, mixCalls, mixes, sampled } from "../fixtures/mixes.ts";
import { decide, GATED, officeTools, type Ran } from "../fixtures/office.ts";
import type { AgentGraph } from "../graph/agent-graph.ts";

/** One agent for all mixes: it makes the calls of the mix that it is told. */
function mixingAgent() {
  const ran: Ran = [];
  const setup = scripted(
    ({ messages }) => {
      const last = messages.at(-1);
      return last?.type === "human" ? { toolCalls: mixCalls(last.text.split(" ") as Kind[]) } : say("done");
    },
    { tools: officeTools(ran), interruptOn: GATED, checkpointer: new MemorySaver() },
  );
  return { ran, ...setup };
}

async function runMixes(list: readonly (readonly Kind[])[]): Promise<void> {
  const { agent, ran, model } = mixingAgent();
  for (const mix of list) {
    ran.length = 0;
    const config = onThread(mix.join());
    const first = (await agent.invoke(ask(mix.join(" ")), config)) as AgentState;
    const decisions = decisionsFor(mix);
    expect(first.__interrupt__ === undefined, String(mix)).toBe(decisions.length === 0);
    const answered = decisions.length > 0 ? await agent.invoke(decide(...decisions), config) : first;
    checkMix(mix, ran, (answered as AgentState).messages);
  }
  expect([model.callCount, model.violations]).toEqual([2 * list.length, []]);
}

describe("auto, approve, edit, reject and respond", () => {
  test.each(sized([1, 2, 3], [1, 2, 3, 4]))("all mixes over %i calls", async (length) => {
    const all = [...mixes(length)];
    expect(all).toHaveLength(KINDS.length ** length);
    await runMixes(all);
  });

  test("a part of the mixes over four and five calls", async () => {
    const some = [...sampled([...mixes(4)], 60), ...sampled([...mixes(5)], sized(60, 300))];
    expect(new Set(some.map(String)).size).toBe(some.length);
    await runMixes(some);
  });

  test("a sample at depth three", async () => {
    const all = [1, 2, 3, 4, 5].flatMap((length) => [...mixes(length)]);
    for (const mix of sampled(all, 40)) {
      const { lead, ran } = firm({ calls: mixCalls(mix) });
      const config = onThread(mix.join());
      await lead.invoke(ask(), config);
      const decisions = decisionsFor(mix);
      if (decisions.length > 0) await lead.invoke(decide(...decisions), config);
      checkMix(mix, ran, await messagesOfClerk(lead, config));
    }
  });
});

/** The newest messages of the innermost agent, as the saver has them. */
async function messagesOfClerk(lead: AgentGraph, config: object): Promise<readonly BaseMessage[]> {
  const saver = lead.checkpointer as MemorySaver;
  for await (const { config: place, checkpoint } of saver.list(config as never)) {
    const namespace = String(place.configurable?.checkpoint_ns);
    if (namespace.split("|").length === 2) return checkpoint.channel_values.messages as BaseMessage[];
  }
  return [];
}
