/**
 * Asks a person before a tool runs: the run waits in the checkpoint, in this process or another. Here the four
 * decisions, a condition, an approval that is remembered, and a question from inside a subagent.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/approval.ts
 */
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { type ActionRequest, type ApprovalRequest, createDeepAgent, type Decision } from "deepwright";
import { z } from "zod";
import { modelOrScript } from "./support/model.ts";

function sayTool(name: string, description: string, schema: z.ZodObject) {
  return tool(async (args) => `${name}: ${JSON.stringify(args)}`, { name, description, schema });
}

const Mail = z.object({ to: z.string(), text: z.string() });
const calls = (...list: [name: string, args: object][]) => ({
  toolCalls: list.map(([name, args]) => ({ name, args })),
});
const agent = createDeepAgent({
  model: modelOrScript([
    calls(
      ["pay", { amount: 20 }],
      ["pay", { amount: 500 }],
      ["send_mail", { to: "all@example.com", text: "Hello" }],
      ["close_account", {}],
      ["ask_person", { question: "When?" }],
    ),
    calls(["pay", { amount: 500 }], ["task", { subagent_type: "clerk", description: "Mail Ann." }]),
    "All is done.",
  ]),
  tools: [
    sayTool("pay", "Pay a bill.", z.object({ amount: z.number() })),
    sayTool("send_mail", "Send a mail.", Mail),
    sayTool("close_account", "Close the account.", z.object({})),
    sayTool("ask_person", "Ask the person something.", z.object({ question: z.string() })),
  ],
  interruptOn: {
    pay: { when: ({ toolCall }) => toolCall.args.amount > 100, allowedDecisions: ["approve", "reject"] },
    send_mail: true,
    close_account: true,
    ask_person: { allowedDecisions: ["respond"] },
  },
  subagents: [
    {
      name: "clerk", // Has the tools of its agent, and asks as its agent does.
      description: "Writes mails.",
      model: modelOrScript([calls(["send_mail", { to: "ann@example.com", text: "Hi" }]), "Ann has mail."]),
    },
  ],
  checkpointer: new MemorySaver(),
});

/** What a person would choose on a screen. */
function decide({ name, args }: ActionRequest): Decision {
  if (name === "pay") return { type: "approve", remember: "thread" };
  if (name === "close_account") return { type: "reject", message: "Keep it." };
  if (name === "ask_person") return { type: "respond", message: "On Friday." };
  if (args.to !== "all@example.com") return { type: "approve" };
  return { type: "edit", editedAction: { name, args: { ...args, to: "team@example.com" } } };
}

const thread = { configurable: { thread_id: "mail-1" }, version: "v2" } as const;
const order =
  "Pay 20 and 500, greet all, close the account, ask when; pay 500 again and have the clerk mail Ann.";
let answer = await agent.invoke({ messages: [{ role: "user", content: order }] }, thread);
while (answer.interrupts.length > 0) {
  const resume: Record<string, { decisions: Decision[] }> = {};
  for (const { id = "", value } of answer.interrupts) {
    const { actionRequests, agentPath = [] } = value as ApprovalRequest;
    const decisions = actionRequests.map(decide);
    for (const [i, { name, args }] of actionRequests.entries())
      console.log(
        ["main", ...agentPath].join(" → "),
        "asks:",
        name,
        JSON.stringify(args),
        decisions[i]?.type,
      );
    resume[id] = { decisions };
  }
  answer = await agent.invoke(new Command({ resume }), thread);
}
for (const { type, text } of answer.value.messages.slice(1)) if (text !== "") console.log(`${type}: ${text}`);
