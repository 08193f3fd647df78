/** `streamEvents` of version v3: messages, tool calls and subagents as streams of their own. */
import { createDeepAgent } from "library";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const agent = createDeepAgent({
    model: scripted([
      call("ls", { path: "/" }),
      call("task", { subagent_type: "helper", description: "Help." }),
      "all is well",
    ]),
    subagents: [
      {
        name: "helper",
        description: "Helps.",
        systemPrompt: "Help.",
        model: scripted([call("glob", { pattern: "*" }), "helped a lot"]),
      },
    ],
  });
  const run = await agent.streamEvents({ messages: [{ role: "user", content: "go" }] }, { version: "v3" });
  const texts: string[] = [];
  const tools: string[] = [];
  const children: unknown[] = [];
  const readMessages = async () => {
    for await (const message of run.messages) {
      let text = "";
      for await (const token of message.text) text += token;
      texts.push(text);
    }
  };
  const readTools = async () => {
    for await (const one of run.toolCalls) {
      await one.output;
      tools.push(`${one.name} ${JSON.stringify(one.input)} ${await one.status}`);
    }
  };
  const readChildren = async () => {
    for await (const child of run.subagents) {
      const said: string[] = [];
      for await (const message of child.messages) said.push(await message.text);
      children.push([child.name, said]);
    }
  };
  await Promise.all([readMessages(), readTools(), readChildren()]);
  const output = await run.output;
  return { texts, tools, children, last: output.messages.at(-1)?.text };
}
