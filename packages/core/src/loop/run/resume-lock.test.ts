/** Several answers to one question at once, with a saver of LangGraph that knows no claims. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { anyTool, ask, onThread } from "../fixtures/agents.ts";

const T = onThread("t");
const APPROVE = new Command({ resume: { decisions: [{ type: "approve" }] } });

function payer() {
  let paid = 0;
  const pay = anyTool("pay", async () => {
    await new Promise((go) => setTimeout(go, 20));
    paid += 1;
    return "paid";
  });
  const agent = createDeepAgent({
    model: scriptedModel(({ turn }) => (turn === 0 ? callTool("pay") : say("done"))),
    tools: [pay],
    interruptOn: { pay: true },
    checkpointer: new MemorySaver(),
  } as never) as ReturnType<typeof createDeepAgent>;
  return { agent, paid: () => paid };
}

test("of three answers at once one counts, the others are refused", async () => {
  const { agent, paid } = payer();
  await agent.invoke(ask(), T);
  const answers = await Promise.allSettled([1, 2, 3].map(() => agent.invoke(APPROVE, T)));
  const refused = answers.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(refused).toEqual(["THREAD_BUSY", "THREAD_BUSY"]);
  expect(paid()).toBe(1);
  expect((await agent.getState(T)).values).toMatchObject({ outcome: { kind: "done" } });
});

test("an answer that is read late meets a question that was answered meanwhile", async () => {
  const { agent, paid } = payer();
  await agent.invoke(ask(), T);
  const late = await agent.stream(APPROVE, T);
  await agent.invoke(APPROVE, T).catch(() => undefined);
  await read(late).catch(() => undefined);
  expect(paid()).toBe(1);
});

test("the thread is free again after an answer that is refused, and other threads are not blocked", async () => {
  const { agent, paid } = payer();
  const other = onThread("other");
  await agent.invoke(ask(), T);
  await agent.invoke(new Command({ resume: { decisions: [] } }), T);
  await expect(agent.invoke(new Command({ resume: {} }), T)).rejects.toMatchObject({
    code: "INVALID_RESUME",
  });
  const { agent: second } = payer();
  await second.invoke(ask(), other);
  await Promise.all([agent.invoke(APPROVE, T), second.invoke(APPROVE, other)]);
  expect(paid()).toBe(1);
});

async function read(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
