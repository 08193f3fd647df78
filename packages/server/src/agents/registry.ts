/** The agents of the server by name, each with its default assistant. */
import type { Assistant } from "@deepwright/protocol";
import { ConfigurationError, registerGraph } from "deepwright";
import { checkAsyncGraphs } from "deepwright/internal";
import { type AgentStorage, bindAgent } from "./bind-agent.ts";
import { assistantIdOf, defaultAssistant } from "./default-assistant.ts";
import type { AnyGraph } from "./graph-types.ts";

/** An agent, or a function that makes it: called once, when it is first wanted. */
export type AgentSource = object | ((config: { readonly configurable: object }) => unknown);

export interface AgentRegistry {
  /** Names of agents, in the order they were given. */
  readonly names: readonly string[];
  /** The default assistants, one for each name. */
  readonly assistants: readonly Assistant[];
  has(graphId: string): boolean;
  /** The agent with the server's saver and store. Rejects when its function fails, and asks it again next time. */
  load(graphId: string): Promise<AnyGraph>;
  /** The default assistant that has this id, or the name of an agent for its id. */
  assistant(assistantIdOrName: string): Assistant | undefined;
  /** Adds an agent while the server runs. A name that is there already is refused. */
  register(graphId: string, source: AgentSource): void;
  /** Async subagents cannot name these agents any more. Safe twice. */
  close(): void;
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._@-]{0,126}[A-Za-z0-9])?$/;

export function createAgentRegistry(
  options: AgentStorage & { readonly agents: Readonly<Record<string, AgentSource>> },
): AgentRegistry {
  const { agents, ...storage } = options;
  const createdAt = new Date().toISOString();
  const sources = new Map<string, AgentSource>();
  const loaded = new Map<string, Promise<AnyGraph>>();
  const assistants = new Map<string, Assistant>();
  const named: (() => void)[] = [];

  const register = (name: string, source: AgentSource): void => {
    if (!NAME.test(name))
      throw new ConfigurationError("INVALID_OPTION", `'${name}' cannot be the name of an agent.`, {
        hint: "Use letters, digits and . _ @ - between them.",
      });
    if (sources.has(name))
      throw new ConfigurationError("INVALID_OPTION", `There are two agents named '${name}'.`);
    sources.set(name, source);
    assistants.set(assistantIdOf(name), defaultAssistant(name, createdAt));
    // Agents made from now on can name it as an async subagent; it is made when the first task is begun.
    named.push(registerGraph(name, () => loadOnce(name)));
  };
  const load = async (name: string, source: AgentSource): Promise<AnyGraph> => {
    const isFactory = typeof source === "function" && !("stream" in source);
    const agent = await bindAgent(name, isFactory ? await source({ configurable: {} }) : source, storage);
    checkAsyncGraphs(agent);
    return agent;
  };

  const loadOnce = (graphId: string): Promise<AnyGraph> => {
    const source = sources.get(graphId);
    if (source === undefined)
      return Promise.reject(
        new ConfigurationError("INVALID_OPTION", `The server has no agent '${graphId}'.`),
      );
    const known = loaded.get(graphId);
    if (known) return known;
    const loading = load(graphId, source);
    loaded.set(graphId, loading);
    loading.catch(() => loaded.delete(graphId));
    return loading;
  };

  for (const [name, source] of Object.entries(agents)) register(name, source);
  return {
    get names() {
      return [...sources.keys()];
    },
    get assistants() {
      return [...assistants.values()];
    },
    has: (graphId) => sources.has(graphId),
    register,
    assistant: (id) => assistants.get(id) ?? assistants.get(assistantIdOf(id)),
    load: loadOnce,
    close() {
      for (const remove of named.splice(0)) remove();
    },
  };
}
