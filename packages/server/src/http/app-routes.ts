/** From a request to its route and back: names, query and body are checked by the row of the protocol's table. */
import { type Route, type RouteName, readQuery, routes } from "@deepwright/protocol";
import type { Hono } from "hono";
import { assistantRoutes } from "../routes/assistant-routes.ts";
import type { Call } from "../routes/call.ts";
import { cronRoutes } from "../routes/cron-routes.ts";
import { runRoutes } from "../routes/run-routes.ts";
import { serverRoutes } from "../routes/server-routes.ts";
import type { Services } from "../routes/services.ts";
import { storeRoutes } from "../routes/store-routes.ts";
import { threadRoutes } from "../routes/thread-routes.ts";
import type { Caller } from "./authenticate.ts";
import { invalid, notFound, Problem } from "./problems.ts";
import { readJson } from "./read-json.ts";

type AnyHandler = (call: Call<never>) => Promise<unknown>;

const HANDLERS = {
  ...assistantRoutes,
  ...threadRoutes,
  ...runRoutes,
  ...cronRoutes,
  ...storeRoutes,
  ...serverRoutes,
} as unknown as Record<RouteName, AnyHandler>;

export interface Environment {
  Variables: { caller: Caller };
}

export function mountRoutes(app: Hono<Environment>, services: Services): void {
  for (const route of routes as readonly Route[]) {
    const handler = HANDLERS[route.name as RouteName];
    app.on(route.method, route.path, async ({ req, get, env }) => {
      if (services.closing.aborted) throw closes();
      const caller = get("caller");
      const call = {
        request: req.raw,
        caller,
        owner: caller.identity,
        parameters: route.parameters?.parse(req.param()),
        query: route.query?.parse(readQuery(new URL(req.url).searchParams)),
        body: await bodyOf(route, req.raw, services),
        services,
        cut: connectionOf(env),
      };
      return answered(await handler(call as unknown as Call<never>), services);
    });
  }
  app.all("*", () => {
    throw notFound("route");
  });
}

/** Load balancers and clients go elsewhere. */
function closes(): Problem {
  return new Problem("UNAVAILABLE", "The server closes.", {
    headers: { "retry-after": "1", connection: "close" },
  });
}

async function bodyOf(route: Route, request: Request, services: Services): Promise<unknown> {
  if (request.method === "GET") return undefined;
  const body = await readJson(request, services.limits);
  if (!route.body) return undefined;
  if (body !== undefined) return route.body.parse(body);
  if (route.bodyOptional) return undefined;
  throw invalid("The request needs a body.");
}

/** Of a request that came through a port. */
function connectionOf(env: unknown): (() => void) | undefined {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: { destroy(): unknown } };
  return outgoing && (() => void outgoing.destroy());
}

function answered(answer: unknown, services: Services): Response {
  if (answer instanceof Response) return answer;
  if (answer === undefined) return new Response(null, { status: 204 });
  return new Response(services.json(answer), { headers: { "content-type": "application/json" } });
}
