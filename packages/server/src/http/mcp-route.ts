/** The address `/mcp`: behind the same doors as everything else, for clients of another protocol. */
import type { Hono } from "hono";
import { createAgentsServer } from "../mcp/agents-as-tools.ts";
import { createMcpEndpoint, type McpEndpoint } from "../mcp/http-endpoint.ts";
import type { Services } from "../routes/services.ts";
import { closes, type Environment } from "./app-routes.ts";
import { userOf } from "./authenticate.ts";
import { readJson } from "./read-json.ts";

/** Nothing is loaded before a client comes. */
export function mcpEndpointFor({ agents, runs, runRate, closing, onError }: Services): McpEndpoint {
  return createMcpEndpoint({
    open: (owner, user) =>
      createAgentsServer({
        names: () => agents.names,
        runs,
        owner,
        user,
        closing,
        onError,
        admit: () => runRate.take(owner),
      }),
  });
}

export function mountMcp(app: Hono<Environment>, services: Services, endpoint: McpEndpoint): void {
  app.all("/mcp", async ({ req, get }) => {
    if (services.closing.aborted) throw closes();
    const caller = get("caller");
    const { identity: owner } = caller;
    const held = services.held.open(owner);
    const body =
      req.method === "POST"
        ? await readJson(req.raw, services.limits, held).finally(() => held.release())
        : undefined;
    const handle = async (onEnd?: () => void) =>
      endpoint.handle(req.raw, { owner, user: userOf(caller) }, body, onEnd);
    return req.method === "GET" || asksFor(body) ? services.streams.hold(owner, handle) : handle();
  });
}

/** Whether something is to be answered, which is done in a stream. A notification is not, such as the end of a call. */
function asksFor(body: unknown): boolean {
  return [body].flat().some((message) => typeof message === "object" && message !== null && "id" in message);
}
