/**
 * The tool `search_mcp_tools`: finds tools whose definitions are not in the request, and adds them to later requests.
 */
import { ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { visibleLine } from "deepwright/console-line";
import { z } from "zod";
import type { Snapshot } from "./catalogue.ts";
import { indexWords, searchTools } from "./tool-index.ts";

export const SEARCH_TOOL = "search_mcp_tools";
/** Names of the tools that were found; state of the thread. */
export const STATE_KEY = "_mcp";

const schema = z.object({
  query: z.string().min(1).describe("Words for what you want to do, or names of tools."),
  limit: z.number().int().min(1).max(10).optional().describe("At most so many tools, by default 5."),
});

/** Tokens of the tool's own description and schema. */
const OWN_TOKENS = 250;

export function createSearchTool(snapshot: Snapshot, maxTokens: number): StructuredToolInterface {
  const index = indexWords(snapshot.index, Math.max(maxTokens - OWN_TOKENS, 100));
  return tool(
    async ({ query, limit = 5 }, config) => {
      const found = searchTools(snapshot.index, query, limit);
      const { toolCall, toolCallId } = config as { toolCall?: { id?: string }; toolCallId?: string };
      const message = new ToolMessage({
        content: wordsFor(query, found),
        name: SEARCH_TOOL,
        tool_call_id: toolCallId ?? toolCall?.id ?? "",
      });
      return new Command({
        update: { messages: [message], [STATE_KEY]: { load: found.map(({ name }) => name) } },
      });
    },
    { name: SEARCH_TOOL, description: descriptionOf(index), schema, metadata: { effect: "reads" } },
  ) as unknown as StructuredToolInterface;
}

function descriptionOf(index: string): string {
  return `Finds tools of the connected MCP servers and makes them available: from your next step on you can call what was found, for the rest of the conversation. Search before you say that something cannot be done. A tool NAME of SERVER is called mcp__SERVER__NAME. What there is, by server:
${index}`;
}

/** Characters of a description in the answer. */
const MOST_DESCRIPTION = 300;

function wordsFor(query: string, found: ReturnType<typeof searchTools>): string {
  if (found.length === 0)
    return `No tool matches '${visibleLine(query, 200)}'. Try other words, or a name from the list.`;
  const lines = found.map(
    ({ name, description }) => `- ${name}: ${visibleLine(description, MOST_DESCRIPTION)}`,
  );
  return `You can call these now:\n${lines.join("\n")}`;
}
