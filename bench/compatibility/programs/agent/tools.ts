/** Tools of the program: results of several kinds, errors, and arguments that do not fit. */
import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const schema = z.object({ n: z.number() });
const double = tool(({ n }) => n * 2, { name: "double", description: "Doubles.", schema });
const record = tool(({ n }) => ({ n, even: n % 2 === 0 }), {
  name: "record",
  description: "Record.",
  schema,
});
const blocks = tool(({ n }) => [{ type: "text", text: `block ${n}` }], {
  name: "blocks",
  description: "Blocks.",
  schema,
});
const artifact = tool(({ n }) => [`seen ${n}`, { secret: n }], {
  name: "artifact",
  description: "With an artifact.",
  schema,
  responseFormat: "content_and_artifact",
});
const refuse = tool(
  ({ n }, config) =>
    new ToolMessage({
      content: `no ${n}`,
      status: "error",
      name: "refuse",
      tool_call_id: config.toolCall.id,
    }),
  { name: "refuse", description: "Refuses.", schema },
);

export default async function program() {
  const tools = [double, record, blocks, artifact, refuse];
  const model = scripted([
    { calls: tools.map(({ name }) => ({ name, args: { n: 4 } })) },
    call("double", { n: "four" }),
    call("no_such_tool", {}),
    "done",
  ]);
  const result = await createDeepAgent({ model, tools }).invoke({
    messages: [{ role: "user", content: "go" }],
  });
  const messages = result.messages.filter((one): one is ToolMessage => one.getType() === "tool");
  const status = (name: string) =>
    messages.filter((one) => one.name === name).map((one) => one.status ?? "success");
  return {
    outline: outline(result.messages),
    double: results(result.messages, "double")[0],
    record: results(result.messages, "record")[0],
    blocks: messages.find((one) => one.name === "blocks")?.content,
    artifact: messages.find((one) => one.name === "artifact")?.artifact,
    refuse: [results(result.messages, "refuse")[0], status("refuse")],
    badArguments: status("double").at(-1),
    unknown: status("no_such_tool"),
    turns: model.requests.length,
  };
}
