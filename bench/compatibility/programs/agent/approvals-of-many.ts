/** Several calls in one turn, a call of a subagent, and limited decisions. */
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const ran: string[] = [];
const send = tool(
  ({ to }) => {
    ran.push(to);
    return `sent to ${to}`;
  },
  { name: "send", description: "Sends.", schema: z.object({ to: z.string() }) },
);
const input = { messages: [{ role: "user", content: "go" }] };

interface Waiting {
  actionRequests: { name: string; args: unknown; description?: string }[];
  reviewConfigs: unknown[];
}
const waitingOf = (result: object) =>
  (result as { __interrupt__?: { value?: Waiting }[] }).__interrupt__?.map((one) => one.value);

async function decideMany(types: string[]) {
  ran.length = 0;
  const config = { configurable: { thread_id: "many" } };
  const sends = ["a", "b", "c"].map((to) => ({ name: "send", args: { to } }));
  const agent = createDeepAgent({
    model: scripted([{ calls: [...sends, { name: "ls", args: { path: "/" } }] }, "done"]),
    tools: [send],
    checkpointer: new MemorySaver(),
    interruptOn: { send: { allowedDecisions: ["approve", "reject"], description: "Send it?" } },
  });
  const waiting = waitingOf(await agent.invoke(input, config));
  const resume = { decisions: types.map((type) => ({ type })) };
  const result = await agent.invoke(new Command({ resume }), config);
  return { waiting, outline: outline(result.messages), ran: [...ran].sort() };
}

export default async function program() {
  const many = await decideMany(["approve", "approve", "approve"]);
  const mixed = await decideMany(["approve", "reject", "approve"]);

  ran.length = 0;
  const inChild = { configurable: { thread_id: "child" } };
  const nested = createDeepAgent({
    model: scripted([call("task", { subagent_type: "sender", description: "Send." }), "done"]),
    checkpointer: new MemorySaver(),
    subagents: [
      {
        name: "sender",
        description: "Sends.",
        systemPrompt: "Send.",
        model: scripted([call("send", { to: "child" }), "sent"]),
        tools: [send],
        interruptOn: { send: true },
      },
    ],
  });
  const asked = waitingOf(await nested.invoke(input, inChild))?.map((one) => one?.actionRequests[0]?.name);
  const before = [...ran];
  const end = await nested.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), inChild);
  return { many, mixed, nested: { asked, before, ran, report: results(end.messages, "task") } };
}
