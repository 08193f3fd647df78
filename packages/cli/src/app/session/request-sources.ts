/** Estimates how many tokens the fixed parts of each request take: prompt, tools, tools of MCP servers, memory. */
import { estimateTokens } from "deepwright/internal";
import type { OwnAgent } from "../../serve/own-agent.ts";
import type { RequestSources } from "./place.ts";

/** Agents of `createDeepAgent` have it; the type of LangGraph does not. */
interface Described {
  describe(): {
    readonly tokens: { readonly prompt: number };
    readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  };
}

/** Reads the memory files again at each call, because they may have changed. */
export async function requestSources({ agent, mcp, workplace }: OwnAgent): Promise<RequestSources> {
  const { tokens, tools } = (agent as Described).describe();
  const mcpNames = new Set((mcp?.tools ?? []).map(({ name }) => name));
  const sum = (some: typeof tools): number => some.reduce((total, tool) => total + tool.tokens, 0);
  const memory = await Promise.all(
    workplace.knowledge.memory.map(async (path) => {
      const { content = "" } = await workplace.backend.read(String(path));
      return typeof content === "string" ? estimateTokens(content) : 0;
    }),
  );
  return {
    prompt: tokens.prompt,
    tools: sum(tools.filter(({ name }) => !mcpNames.has(name))),
    mcp: sum(tools.filter(({ name }) => mcpNames.has(name))),
    memory: memory.reduce((total, one) => total + one, 0),
  };
}
