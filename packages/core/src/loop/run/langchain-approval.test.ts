/** Threads that wait for an approval which LangChain's own agent asked for, answered through our agent. */
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { ask, onThread } from "../fixtures/agents.ts";

const T = onThread("t");

/** The thread waits for a decision about `pay {amount: 7}`. */
async function waiting(interruptOn: object) {
  const paid: unknown[] = [];
  const pay = tool(
    (args) => {
      paid.push(args);
      return "paid";
    },
    { name: "pay", description: "Pays.", schema: z.object({ amount: z.number() }) },
  );
  const model = () =>
    scriptedModel(({ messages }) =>
      messages.at(-1)?.getType() === "tool" ? say("done") : callTool("pay", { amount: 7 }),
    );
  const checkpointer = new MemorySaver();
  const other = createAgent({
    model: model(),
    tools: [pay],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { pay: true } })],
    checkpointer,
  });
  const { __interrupt__ } = (await other.invoke(ask(), T)) as { __interrupt__?: { id: string }[] };
  const ours = createDeepAgent({ model: model(), tools: [pay], interruptOn, checkpointer } as never);
  return { ours: ours as ReturnType<typeof createDeepAgent>, paid, id: __interrupt__?.[0]?.id as string };
}

const answer = (...decisions: object[]) => new Command({ resume: { decisions } });

test.each([
  ["approved", { type: "approve" }, [{ amount: 7 }], "paid"],
  ["edited", { type: "edit", editedAction: { name: "pay", args: { amount: 5 } } }, [{ amount: 5 }], "paid"],
  ["rejected", { type: "reject", message: "no" }, [], "was rejected by a person"],
])("a call that is %s has this effect once", async (_, decision, effects, result) => {
  const { ours, paid } = await waiting({ pay: true });
  const { messages, outcome } = await ours.invoke(answer(decision), T);
  expect(paid).toEqual(effects);
  expect(messages.find((message) => message.type === "tool")?.text).toContain(result);
  expect(outcome).toEqual({ kind: "done" });
});

test("an answer by the id of the interrupt is taken", async () => {
  const { ours, paid, id } = await waiting({ pay: true });
  await ours.invoke(new Command({ resume: { [id]: { decisions: [{ type: "approve" }] } } }), T);
  expect(paid).toEqual([{ amount: 7 }]);
});

test.each([[{}], [{ ls: true }], [{ pay: { when: () => true } }]])(
  "an agent with interruptOn %j does not take the answer, and nothing is lost",
  async (interruptOn) => {
    const { ours, paid } = await waiting(interruptOn);
    const refused = ours.invoke(answer({ type: "reject" }), T);
    await expect(refused).rejects.toMatchObject({
      code: "INVALID_RESUME",
      hint: expect.stringContaining("pay"),
    });
    expect(paid).toEqual([]);
    const { tasks, values } = await ours.getState(T);
    expect([tasks.length, values.messages.length]).toEqual([0, 2]);
  },
);
