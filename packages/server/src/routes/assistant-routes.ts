/** Assistants: the server's own, one for each agent, and those clients make of them. */
import { randomUUID } from "node:crypto";
import type { Assistant, CreateAssistant } from "@deepwright/protocol";
import { factsOf } from "../agent-facts/agent-facts.ts";
import { drawingOf, schemasOf, subgraphsOf } from "../agents/describe-graph.ts";
import type { AnyGraph } from "../agents/graph-types.ts";
import { invalid, notFound, Problem } from "../http/problems.ts";
import { refuseEngineObjects } from "../runs/input/engine-objects.ts";
import type { Call, Handlers } from "./call.ts";
import { checkConfig } from "./checked-request.ts";
import { byteLimit, pageAnswer, pageHeaders, selected } from "./listing.ts";
import type { Services } from "./services.ts";
import { deleteThread } from "./thread-parts.ts";

export const assistantRoutes: Handlers<"assistants"> = {
  "assistants.create": async ({ owner, body, services }) => {
    const { records, agents } = services;
    if (!agents.has(body.graph_id)) throw notFound("agent");
    checkSettings(body, services);
    const now = new Date().toISOString();
    const created: Assistant = {
      assistant_id: body.assistant_id ?? randomUUID(),
      graph_id: body.graph_id,
      name: body.name ?? body.graph_id,
      description: body.description ?? null,
      config: body.config ?? {},
      context: body.context ?? {},
      metadata: body.metadata ?? {},
      version: 1,
      created_at: now,
      updated_at: now,
    };
    const put = await records.assistants.put(owner, created, { ifExists: body.if_exists ?? "raise" });
    if (put === "exists") throw new Problem("EXISTS", "There is an assistant with this id.");
    return put;
  },

  "assistants.search": async (call) => {
    const { owner, body, services } = call;
    const served = services.agents.names;
    const query = { ...body, served, limit: body?.limit ?? 10, offset: body?.offset ?? 0 };
    const { assistants } = services.records;
    const found = await assistants.search(owner, query, byteLimit(services.limits));
    const headers = pageHeaders(query, found.length, await assistants.count(owner, query));
    return pageAnswer(call, selected(found, query.select), headers);
  },

  "assistants.count": async ({ owner, body, services }) =>
    services.records.assistants.count(owner, { ...body, served: services.agents.names }),

  "assistants.get": async ({ owner, parameters, services }) =>
    assistantOf(services, owner, parameters.assistant_id),

  "assistants.update": async ({ owner, parameters, body, services }) => {
    const known = await changeable(services, owner, parameters.assistant_id);
    if (body.graph_id !== undefined && !services.agents.has(body.graph_id)) throw notFound("agent");
    checkSettings(body, services);
    const changed: Assistant = {
      ...known,
      graph_id: body.graph_id ?? known.graph_id,
      name: body.name ?? known.name,
      description: body.description === undefined ? known.description : body.description,
      config: body.config ?? known.config,
      context: body.context === undefined ? known.context : body.context,
      metadata: { ...known.metadata, ...body.metadata },
      updated_at: new Date().toISOString(),
    };
    const put = await services.records.assistants.put(owner, changed, { ifExists: "replace" });
    if (put === "exists") throw notFound("assistant");
    return put;
  },

  "assistants.delete": async ({ owner, parameters, query, services }) => {
    const { assistant_id: id } = await changeable(services, owner, parameters.assistant_id);
    if (query.delete_threads) await deleteThreadsOf(services, owner, id);
    if (!(await services.records.assistants.delete(owner, id))) throw notFound("assistant");
    return undefined;
  },

  "assistants.graph": async (call) => {
    const xray = call.query.xray;
    return (await drawingOf(await graphOf(call), xray)) as never;
  },

  "assistants.schemas": async (call) => {
    const { graph_id: graphId } = await assistantOf(call.services, call.owner, call.parameters.assistant_id);
    return schemasOf(graphId, await call.services.agents.load(graphId)) as never;
  },

  "assistants.facts": async (call) => {
    const { tenants, settings } = call.services;
    const { graph_id: agent } = await assistantOf(call.services, call.owner, call.parameters.assistant_id);
    const directory = (!tenants && settings(agent)?.directory) || null;
    return { ...factsOf(await graphOf(call), !tenants), directory };
  },

  "assistants.subgraphs": async (call) =>
    (await subgraphsOf(await graphOf(call), { recurse: call.query.recurse })) as never,

  "assistants.subgraph": async (call) =>
    (await subgraphsOf(await graphOf(call), {
      namespace: call.parameters.namespace,
      recurse: call.query.recurse,
    })) as never,

  "assistants.versions": async (call) => {
    const { owner, parameters, body, services } = call;
    const { assistants } = services.records;
    const { assistant_id: id } = await assistantOf(services, owner, parameters.assistant_id);
    const page = { limit: body?.limit ?? 10, offset: body?.offset ?? 0 };
    const versions = await assistants.versions(owner, id, { ...page, bytes: byteLimit(services.limits) });
    const headers = pageHeaders(page, versions.length, await assistants.countVersions(owner, id));
    const wanted = Object.entries(body?.metadata ?? {});
    const found = versions.filter(({ metadata }) =>
      wanted.every(([key, value]) => JSON.stringify(metadata[key]) === JSON.stringify(value)),
    );
    return pageAnswer(call, found, headers);
  },

  "assistants.setLatest": async ({ owner, parameters, body, services }) => {
    const { assistant_id: id } = await changeable(services, owner, parameters.assistant_id);
    const latest = await services.records.assistants.setLatest(owner, id, body.version);
    if (!latest) throw notFound("version");
    return latest;
  },
};

/** They go into the runs of the assistant, as those of a request do. */
function checkSettings(
  { config, context }: Pick<CreateAssistant, "config" | "context">,
  { tenants }: Services,
) {
  checkConfig(config, { tenants });
  refuseEngineObjects(context, "context");
}

/** By its id, or the name of an agent for the server's own assistant of it. */
export async function assistantOf(
  { agents, records }: Services,
  owner: string,
  id: string,
): Promise<Assistant> {
  const found = agents.assistant(id) ?? (await records.assistants.get(owner, id));
  if (!found) throw notFound("assistant");
  return found;
}

/** The name of the agent that a request means: of its assistant, else the first one of the server. */
export async function agentNamed({
  services,
  owner,
  query: { assistant_id: id },
}: Pick<Call, "services" | "owner"> & {
  readonly query: { readonly assistant_id?: string | undefined };
}): Promise<string> {
  return id === undefined
    ? (services.agents.names[0] ?? "")
    : (await assistantOf(services, owner, id)).graph_id;
}

async function changeable(services: Services, owner: string, id: string): Promise<Assistant> {
  const found = await assistantOf(services, owner, id);
  if (services.agents.assistant(found.assistant_id))
    throw invalid("The server's own assistants cannot be changed; create one of the same agent.");
  return found;
}

async function graphOf(
  call: Pick<Call, "owner" | "services"> & { readonly parameters: { readonly assistant_id: string } },
): Promise<AnyGraph> {
  const { graph_id: graphId } = await assistantOf(call.services, call.owner, call.parameters.assistant_id);
  return call.services.agents.load(graphId);
}

async function deleteThreadsOf(services: Services, owner: string, assistantId: string): Promise<void> {
  for (;;) {
    const query = { metadata: { assistant_id: assistantId }, limit: 100, offset: 0 };
    const threads = await services.records.threads.search(owner, query);
    if (threads.length === 0) return;
    for (const { thread_id: id } of threads) await deleteThread(services, owner, id);
  }
}
