/** From a request to its route and back: names, query and body are checked by the row of the protocol's table. */
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Route, type RouteName, readQuery, routes } from "@deepwright/protocol";
import type { Hono } from "hono";
import { approvalLinkRoutes } from "../approval-links/approval-link-routes.ts";
import { settingsRoutes } from "../host-settings/settings-routes.ts";
import { a2aRoutes } from "../routes/a2a/a2a-routes.ts";
import { approvalRoutes } from "../routes/approval-routes.ts";
import { assistantRoutes } from "../routes/assistant-routes.ts";
import type { Call } from "../routes/call.ts";
import { cronRoutes } from "../routes/cron-routes.ts";
import { runRoutes } from "../routes/run-routes.ts";
import { serverRoutes } from "../routes/server-routes.ts";
import type { Services } from "../routes/services.ts";
import { signInRoutes } from "../routes/sign-in-routes.ts";
import { storeRoutes } from "../routes/store-routes.ts";
import { threadRoutes } from "../routes/thread-routes.ts";
import { usageRoutes } from "../routes/usage-routes.ts";
import { workspaceRoutes } from "../routes/workspace-routes.ts";
import type { Caller } from "./authenticate.ts";
import { HeldAnswer } from "./held-answer.ts";
import { TimeLimit } from "./limits/answer-deadline.ts";
import { isCostly } from "./limits/costly-requests.ts";
import type { Held } from "./limits/held-bytes.ts";
import { invalid, notFound, Problem } from "./problems.ts";
import { readJson } from "./read-json.ts";

type AnyHandler = (call: Call<never>) => Promise<unknown>;

const HANDLERS = {
  ...assistantRoutes,
  ...threadRoutes,
  ...runRoutes,
  ...cronRoutes,
  ...storeRoutes,
  ...approvalRoutes,
  ...approvalLinkRoutes,
  ...usageRoutes,
  ...workspaceRoutes,
  ...settingsRoutes,
  ...signInRoutes,
  ...a2aRoutes,
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
      services.costly.seen(caller.identity);
      const held = services.held.open(caller.identity);
      try {
        const call = {
          request: req.raw,
          caller,
          owner: caller.identity,
          parameters: route.parameters?.parse(req.param()),
          query: route.query?.parse(readQuery(new URL(req.url).searchParams)),
          body: await bodyOf(route, req.raw, services, held),
          services,
          held,
          cut: connectionOf(env),
        };
        const work = () => limit.answer(route.name, () => handler(call as unknown as Call<never>));
        const answer = isCostly(route.name, req.raw)
          ? await services.costly.run(caller.identity, req.raw.signal, work)
          : await work();
        // A large answer took a while to make and takes as long to write: others get a turn in between.
        await nextTurn();
        return await withoutBody(req.raw, answered(req.raw, answer, services, held, env));
      } catch (error) {
        held.release();
        throw error;
      }
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

async function bodyOf(route: Route, request: Request, services: Services, held: Held): Promise<unknown> {
  if (request.method === "GET") return undefined;
  const body = await readJson(request, services.limits, held);
  if (!route.body) return undefined;
  if (body !== undefined) return route.body.parse(body);
  if (route.bodyOptional) return undefined;
  throw invalid("The request needs a body.");
}

/** Absent for a request that came through no port. */
function outgoingOf(env: unknown): ServerResponse | undefined {
  return ((env ?? {}) as { readonly outgoing?: ServerResponse }).outgoing;
}

function connectionOf(env: unknown): (() => void) | undefined {
  const outgoing = outgoingOf(env);
  return outgoing && (() => void outgoing.destroy());
}

/** Nobody reads the body of an answer to HEAD: what it holds open is given back. */
async function withoutBody({ method }: Request, response: Response): Promise<Response> {
  if (method !== "HEAD" || response.body === null) return response;
  await response.body.cancel();
  return new Response(null, response);
}

/** An answer is counted until the client has it or has left. A stream holds only what its reader takes. */
function answered(
  { method }: Request,
  answer: unknown,
  services: Services,
  held: Held,
  env: unknown,
): Response {
  if (answer instanceof Response || answer === undefined) {
    held.release();
    return answer ?? new Response(null, { status: 204 });
  }
  const mostBytes = services.limits.answerBytes;
  const { body, headers } =
    answer instanceof HeldAnswer ? answer : new HeldAnswer(services.json(answer, { mostBytes }));
  // Where something was done, the client must hear of it.
  if (method === "GET" && !(answer instanceof HeldAnswer)) held.add(Buffer.byteLength(body));
  held.keep(Buffer.byteLength(body));
  const outgoing = outgoingOf(env);
  if (outgoing && !outgoing.closed) outgoing.once("close", () => held.release());
  else held.release();
  return new Response(body as BodyInit, { headers: { "content-type": "application/json", ...headers } });
}
