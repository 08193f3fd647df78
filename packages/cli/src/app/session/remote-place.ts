/** A server elsewhere that speaks the same protocol. */
import { type AgentFacts, createClient, type Usage } from "@deepwright/protocol";
import { CommandError, usageError } from "../../command-error.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { Place } from "./place.ts";
import type { Budget } from "./spending.ts";
import { ThreadPast } from "./thread-past.ts";

/** Throws where the server does not answer or has no such agent. The token is DEEPWRIGHT_SERVER_TOKEN. */
export async function openRemote(
  url: string,
  environment: NodeJS.ProcessEnv,
  agent?: string,
): Promise<Place> {
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol))
    throw usageError(`--connect is '${safeLine(url, 200)}', which is no address.`, "Give http://host:port.");
  const token = environment.DEEPWRIGHT_SERVER_TOKEN;
  const client = createClient({ baseUrl: url, ...(token && { token }) });
  const assistants = await client.assistants.search({ limit: 100 }).catch((cause: unknown) => {
    const { code = "", message = String(cause) } = cause as { code?: string; message?: string };
    if (code.startsWith("HTTP_"))
      throw new CommandError(
        `The server at ${safeLine(url, 200)} is no server of agents: it answered ${code.slice(5)}.`,
        { cause },
      );
    throw new CommandError(safeLine(message, 300), {
      ...(code === "UNAUTHENTICATED" && { hint: "Set DEEPWRIGHT_SERVER_TOKEN to the token of the server." }),
      cause,
    });
  });
  const names = assistants.map(({ graph_id: name }) => name).sort();
  if (names.length === 0) throw new CommandError(`The server at ${safeLine(url, 200)} has no agents.`);
  const chosen = agent ?? (names.includes(DEFAULT_AGENT) ? DEFAULT_AGENT : (names[0] ?? ""));
  const first = assistants.find(({ graph_id: name }) => name === chosen);
  const offered = safeLine(names.join(", "), 500);
  if (!first) throw usageError(`The server has no agent '${safeLine(chosen, 60)}'.`, `It has ${offered}.`);
  // Servers of others do not have this route.
  const facts = await client.assistants.facts(first.assistant_id).catch(() => undefined);
  return {
    client,
    assistant: first.assistant_id,
    model: facts?.model ?? first.graph_id,
    isOffline: facts?.model?.endsWith(" offline") ?? false,
    sandbox: address.host,
    window: facts?.window ?? undefined,
    notices: [
      `Connected to ${address.host}. The agent works there, with the files of the server.`,
      ...(names.length > 1 && agent === undefined
        ? [`You talk to ${safeLine(first.graph_id, 60)}. --agent chooses another one of ${offered}.`]
        : []),
    ],
    past: new ThreadPast(client, undefined),
    hasModes: !facts || facts.choices.approval_modes.length > 0,
    rules: facts && facts.choices.rules.length > 0 ? ["thread"] : [],
    models: facts?.choices.models.map(({ name }) => name) ?? [],
    budget: budgetOf(facts),
    costOf: (usage, model = facts?.model ?? "") =>
      dollars(usage, model === facts?.model ? facts.price : null),
    sources: async () =>
      facts?.tokens
        ? { prompt: facts.tokens.instructions, tools: facts.tokens.tools, mcp: facts.tokens.mcp_tools }
        : undefined,
    rename: async (threadId, title) => void (await client.threads.update(threadId, { title })),
    close: async () => {},
  };
}

/** The name that `deepwright serve` gives its own agent. */
const DEFAULT_AGENT = "agent";

function budgetOf(facts: AgentFacts | undefined): Budget {
  const { max_cost: maxCost, max_tokens: maxTokens } = facts?.budget ?? {};
  return { maxCost: maxCost ?? undefined, maxTokens: maxTokens ?? undefined };
}

const MILLION = 1_000_000;

function dollars({ input, output, cached = 0 }: Usage, price: AgentFacts["price"] | undefined) {
  if (!price) return undefined;
  return ((input - cached) * price.input + cached * price.cache_read + output * price.output) / MILLION;
}
