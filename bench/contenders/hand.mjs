/** A while loop without a graph: no streaming, no threads, no approvals. The floor. */
import { tool } from "@langchain/core/tools";
import { fileTools } from "./file-tools.mjs";

export function create({ model }) {
  return { invoke: (input) => run(model, input) };
}

async function run(model, input) {
  const state = { messages: [...input.messages], files: { ...input.files } };
  const tools = new Map(fileTools.map((definition) => [definition.name, toolOn(state, definition)]));
  const bound = model.bindTools([...tools.values()]);
  while (true) {
    const reply = await bound.invoke(state.messages);
    state.messages.push(reply);
    if (!reply.tool_calls?.length) return state;
    for (const call of reply.tool_calls)
      state.messages.push(await tools.get(call.name).invoke({ ...call, type: "tool_call" }));
  }
}

function toolOn(state, { name, description, schema, run }) {
  const body = (args) => {
    const { text, change } = run(state.files, args);
    Object.assign(state.files, change);
    return text;
  };
  return tool(body, { name, description, schema });
}
