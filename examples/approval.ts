/** Asks a person before a tool runs: the run waits in the checkpoint, in this process or another. */
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { z } from "zod";

const sendMail = tool(async ({ to, text }) => `sent to ${to}: ${text}`, {
  name: "send_mail",
  description: "Send a mail.",
  schema: z.object({ to: z.string(), text: z.string() }),
});

const agent = createDeepAgent({
  model: scriptedModel([callTool("send_mail", { to: "all@example.com", text: "Hello" }), "The mail is out."]),
  tools: [sendMail],
  interruptOn: { send_mail: { allowedDecisions: ["approve", "edit", "reject"] } },
  checkpointer: new MemorySaver(),
});

const thread = { configurable: { thread_id: "mail-1" } };
const { interrupts } = await agent.invoke(
  { messages: [{ role: "user", content: "Greet everybody." }] },
  { ...thread, version: "v2" },
);
console.log("waiting for:", JSON.stringify(interrupts[0]?.value));

const decision = {
  type: "edit",
  editedAction: { name: "send_mail", args: { to: "team@example.com", text: "Hello" } },
};
const result = await agent.invoke(new Command({ resume: { decisions: [decision] } }), thread);
console.log(result.messages.map((message) => `${message.getType()}: ${message.text}`).join("\n"));
