/** Names and arguments of all tools that the model is given. */
import { createDeepAgent, LocalShellBackend } from "library";
import { scratch } from "../../kit/scratch.ts";
import { scripted, type ToolSchema } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

function describe(tools: readonly ToolSchema[] | undefined) {
  const entries = (tools ?? []).map((tool) => [
    tool.name,
    { args: Object.keys(tool.parameters.properties ?? {}).sort(), described: tool.description.length > 20 },
  ]);
  return Object.fromEntries(entries);
}

export default async function program() {
  const plain = scripted(["done"]);
  await createDeepAgent({ model: plain }).invoke(input);
  const shell = scripted(["done"]);
  const backend = new LocalShellBackend({ rootDir: scratch("schemas"), virtualMode: true });
  await createDeepAgent({ model: shell, backend }).invoke(input);
  const remote = scripted(["done"]);
  const subagents = [{ name: "far", description: "far away", graphId: "far", url: "http://127.0.0.1:9" }];
  await createDeepAgent({ model: remote, subagents }).invoke(input);
  return {
    plain: describe(plain.requests[0]?.tools),
    shell: Object.keys(describe(shell.requests[0]?.tools)).sort(),
    remote: describe(remote.requests[0]?.tools),
  };
}
