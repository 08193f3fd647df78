/** Gives an agent the tools of servers: all of them if they take few tokens, else the ones it found by searching. */
import { ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import type { Catalogue, Snapshot } from "./tools/catalogue.ts";
import { createSearchTool, SEARCH_TOOL, STATE_KEY } from "./tools/search-tool.ts";

/** State of a thread. The key is private: a subagent has its own. */
interface McpState {
  /** The catalogue's version at the start of the last run. */
  readonly version?: string;
  /** Names of tools that were found, in the order they were. */
  readonly loaded: readonly string[];
}

interface McpUpdate {
  readonly version?: string;
  readonly load?: readonly string[];
}

/** New tools are only appended, so that earlier requests stay a prefix of later ones. */
function reduced(state: McpState | undefined, update: McpUpdate | undefined): McpState {
  const { loaded = [] } = state ?? {};
  const { version = state?.version, load = [] } = update ?? {};
  return { version, loaded: [...new Set([...loaded, ...load])] };
}

/** One value that all agents with this middleware share: two in one stack are the same. */
const stateSchema = new StateSchema({
  [STATE_KEY]: new ReducedValue(z.any(), { reducer: reduced as never }),
});

export type McpMiddleware = AgentMiddleware;

/** By LangChain's public contract: it works in any agent that takes a middleware. */
export function createMcpMiddleware(catalogue: Catalogue, maxTokens: number): McpMiddleware {
  const searchTools = new WeakMap<Snapshot, StructuredToolInterface>();
  const searchToolOf = (snapshot: Snapshot): StructuredToolInterface => {
    const known = searchTools.get(snapshot) ?? createSearchTool(snapshot, maxTokens);
    searchTools.set(snapshot, known);
    return known;
  };
  const sceneOf = (state: unknown): Scene => {
    const { version, loaded = [] } = (state as { [STATE_KEY]?: McpState })[STATE_KEY] ?? {};
    const snapshot = catalogue.of(version);
    return { snapshot, loaded, isDeferred: snapshot.tokens > maxTokens };
  };
  return {
    name: "McpMiddleware",
    stateSchema: stateSchema as never,
    beforeAgent: () => ({ [STATE_KEY]: { version: catalogue.current().version } }) as never,
    wrapModelCall: (request, handler) => {
      const scene = sceneOf(request.state);
      const own = new Set(request.tools.map((tool) => (tool as { name?: unknown }).name));
      const ours = offered(scene, searchToolOf).filter(({ name }) => !own.has(name));
      const tools = [...request.tools, ...ours];
      const { missing } = scene.snapshot;
      if (missing.length === 0) return handler({ ...request, tools });
      const systemMessage = request.systemMessage.concat(`\n\n${missingWords(missing)}`);
      return handler({ ...request, tools, systemMessage });
    },
    wrapToolCall: async (request, handler) => {
      const { name } = request.toolCall;
      const { snapshot, loaded, isDeferred } = sceneOf(request.state);
      const isSearch = name === SEARCH_TOOL && isDeferred;
      const tool = isSearch ? searchToolOf(snapshot) : snapshot.byName.get(name);
      if (tool === undefined) return handler(request);
      const isHidden = isDeferred && !isSearch && !loaded.includes(name);
      const missing = isHidden ? missingArguments(tool, request.toolCall.args) : [];
      if (missing.length > 0) return shownNow(name, failed(request.toolCall, missing));
      // A tool under this name is one that the agent was built with, or one that we offered for this turn.
      const result = await handler(
        request.tool === undefined ? { ...request, tool: tool as never } : request,
      );
      return isHidden && ToolMessage.isInstance(result) ? shownNow(name, result) : result;
    },
  };
}

interface Scene {
  readonly snapshot: Snapshot;
  readonly loaded: readonly string[];
  readonly isDeferred: boolean;
}

function offered(
  { snapshot, loaded, isDeferred }: Scene,
  searchToolOf: (snapshot: Snapshot) => StructuredToolInterface,
): readonly StructuredToolInterface[] {
  if (!isDeferred) return snapshot.tools;
  const found = loaded.map((name) => snapshot.byName.get(name)).filter((tool) => tool !== undefined);
  return [searchToolOf(snapshot), ...found];
}

/** A name of the index was called without a search: its schema is shown from now on. */
function shownNow(name: string, result: ToolMessage): Command {
  return new Command({ update: { messages: [result], [STATE_KEY]: { load: [name] } } });
}

function missingArguments({ schema }: StructuredToolInterface, args: object): readonly string[] {
  const { required } = schema as { required?: unknown };
  return Array.isArray(required) ? required.map(String).filter((name) => !Object.hasOwn(args, name)) : [];
}

function failed(
  { name, id }: { readonly name: string; readonly id?: string },
  missing: readonly string[],
): ToolMessage {
  return new ToolMessage({
    content: `Error: ${name} needs ${missing.join(", ")}. You can see its schema now: call it again.`,
    status: "error",
    name,
    tool_call_id: id ?? "",
  });
}

function missingWords(missing: readonly string[]): string {
  return `MCP servers that cannot be reached now, so that their tools are missing: ${missing.join(", ")}.`;
}
