/** LangChain's createAgent with plain tools on a `files` state: what a team writes without a harness. */
import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { z } from "zod";
import { fileTools } from "./file-tools.mjs";

const files = new ReducedValue(
  z.record(z.string(), z.any()).default(() => ({})),
  {
    inputSchema: z.record(z.string(), z.any()).optional(),
    reducer: (left, right) => ({ ...left, ...right }),
  },
);
export const filesMiddleware = createMiddleware({ name: "files", stateSchema: new StateSchema({ files }) });

export const tools = fileTools.map(({ name, description, schema, run }) =>
  tool(
    (args, runtime) => {
      const { text, change } = run(runtime.state.files, args);
      if (change === undefined) return text;
      const messages = [new ToolMessage({ content: text, tool_call_id: runtime.toolCallId, name })];
      return new Command({ update: { files: change, messages } });
    },
    { name, description, schema },
  ),
);

export const create = ({ model, checkpointer }) =>
  createAgent({ model, tools, middleware: [filesMiddleware], checkpointer });
