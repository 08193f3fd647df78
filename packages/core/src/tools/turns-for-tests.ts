/** Tests only: file tools called as a loop calls them, in a real graph on the state of one thread. */
import type { ToolMessage } from "@langchain/core/messages";
import {
  Command,
  END,
  MessagesValue,
  ReducedValue,
  Send,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { z } from "zod";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import { filesValue } from "../backends/state/state.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { createDeleteTool } from "./delete.ts";
import { createEditFileTool } from "./edit-file.ts";
import type { FileToolOptions } from "./file-tool.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import { createReadFileTool } from "./read-file.ts";
import { createWriteFileTool } from "./write-file.ts";

const makers = [
  createLsTool,
  createReadFileTool,
  createWriteFileTool,
  createEditFileTool,
  createDeleteTool,
  createGlobTool,
  createGrepTool,
];

export const toolsWith = (
  options: Partial<FileToolOptions> = {},
  backend?: BackendSource,
): Map<string, BuiltInTool> => {
  const all = makers.map((make) =>
    make({ backend: (runtime) => resolveBackend(backend, runtime), ...options }),
  );
  return new Map(all.map((tool) => [tool.name, tool]));
};

export type Call = readonly [name: string, args: Record<string, unknown>];

/** Runs each turn as a loop would: one task per call, in a real graph, on the state of one thread. */
export async function run(
  turns: readonly (readonly Call[])[],
  files: Record<string, string> = {},
  tools = toolsWith(),
): Promise<{ answers: ToolMessage[]; files: Record<string, string> }> {
  const State = new StateSchema({
    files: filesValue,
    messages: MessagesValue,
    turn: new ReducedValue(z.number().default(0), {
      reducer: (left: number, right: number) => Math.max(left, right),
    }),
  });
  const graph = new StateGraph(State)
    .addNode("model", () => ({}))
    .addNode("tools", async (packet: any, config: any) => {
      const [name, args] = (turns[packet.turn] as Call[])[packet.index] as Call;
      const id = `${packet.turn}-${packet.index}`;
      const result = await tools
        .get(name)
        ?.invoke(
          { name, args, id, type: "tool_call" } as never,
          { ...config, config, toolCallId: id, state: {} } as never,
        );
      if (result instanceof Command) return result as never;
      return { messages: [result], turn: packet.turn + 1 } as never;
    })
    .addEdge(START, "model")
    .addConditionalEdges(
      "model",
      ((state: { turn: number }) => {
        const calls = turns[state.turn] ?? [];
        return calls.length === 0
          ? END
          : calls.map((_, index) => new Send("tools", { turn: state.turn, index }));
      }) as never,
      ["tools", END] as never,
    )
    .addEdge("tools", "model")
    .compile();
  const given = Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { content }]));
  const end = (await graph.invoke({ files: given, messages: [] } as never)) as any;
  const contents = Object.entries(end.files).map(([path, data]) => [
    path,
    (data as { content: string }).content,
  ]);
  return { answers: end.messages, files: Object.fromEntries(contents) };
}

export async function ask(
  name: string,
  args: Record<string, unknown>,
  files: Record<string, string> = {},
  options: Partial<FileToolOptions> = {},
): Promise<ToolMessage> {
  const { answers } = await run([[[name, args]]], files, toolsWith(options));
  return answers[0] as ToolMessage;
}

export const sample = {
  "/a.txt": "hello\nworld\n",
  "/empty.txt": "",
  "/src/main.ts": "const x = 1;\nconst y = x;\n",
  "/src/lib/util.ts": "export const x = 2;\n",
};
