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
import { TimeLimit } from "./in-time.ts";
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
  const limit = new TimeLimit(services.limits.answerMs);
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
      const answer = await limit.answer(route.name, () => handler(call as unknown as Call<never>));
      return withoutBody(req.raw, answered(answer, services));
    });
  }
  app.all("*", ({ req }) => {
    // A name in the address that is empty is a bad name, and not another route.
    throw /.\/(?:\/|$)/.test(req.path) ? invalid("The path is not valid.") : notFound("route");
  });
}

/** Load balancers and clients go elsewhere. */
export function closes(): Problem {
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

/** Nobody reads the body of an answer to HEAD: what it holds open is given back. */
async function withoutBody({ method }: Request, response: Response): Promise<Response> {
  if (method !== "HEAD" || response.body === null) return response;
  await response.body.cancel();
  return new Response(null, response);
}

function answered(answer: unknown, services: Services): Response {
  if (answer instanceof Response) return answer;
  if (answer === undefined) return new Response(null, { status: 204 });
  return new Response(services.json(answer), { headers: { "content-type": "application/json" } });
}
