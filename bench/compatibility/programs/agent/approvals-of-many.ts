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

export default async function program() {
  const config = { configurable: { thread_id: "many" } };
  const model = scripted([
    { calls: ["a", "b", "c"].map((to) => ({ name: "send", args: { to } })).concat([{ name: "ls", args: { to: "/" } }]) },
    "done",
  ]);
  const agent = createDeepAgent({
    model,
    tools: [send],
    checkpointer: new MemorySaver(),
    interruptOn: { send: { allowedDecisions: ["approve", "reject"], description: "Send it?" } },
  });
  const waiting = waitingOf(await agent.invoke(input, config));
  const decisions = [{ type: "approve" }, { type: "reject", message: "no" }, { type: "approve" }];
  const result = await agent.invoke(new Command({ resume: { decisions } }), config);
  const many = { waiting, outline: outline(result.messages), ran: [...ran].sort() };

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
  return { many, nested: { asked, before, ran, report: results(end.messages, "task") } };
}
