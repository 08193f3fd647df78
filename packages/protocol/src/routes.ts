/** Every route of the server, in the order of a reference. A path without names stands before one that would match it. */
import { a2aRoutes } from "./routes/a2a-routes.ts";
import { approvalLinkRoutes, approvalRoutes } from "./routes/approval-routes.ts";
import { assistantRoutes } from "./routes/assistant-routes.ts";
import { cronRoutes } from "./routes/cron-routes.ts";
import type { Route } from "./routes/route.ts";
import { runRoutes } from "./routes/run-routes.ts";
import { serverRoutes } from "./routes/server-routes.ts";
import { settingsRoutes } from "./routes/settings-routes.ts";
import { signInRoutes } from "./routes/sign-in-routes.ts";
import { storeRoutes } from "./routes/store-routes.ts";
import { threadRoutes } from "./routes/thread-routes.ts";
import { usageRoutes } from "./routes/usage-routes.ts";
import { workspaceRoutes } from "./routes/workspace-routes.ts";

export { fillPath, type Method } from "./routes/path.ts";
export type { Route } from "./routes/route.ts";

export const routes = [
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
] as const satisfies readonly Route[];

export type RouteName = (typeof routes)[number]["name"];
/** The row of a name, with its own schemas. */
export type RouteOf<Name extends RouteName> = Extract<(typeof routes)[number], { readonly name: Name }>;

const byName = new Map<string, Route>(routes.map((route) => [route.name, route]));

export function routeOf<Name extends RouteName>(name: Name): RouteOf<Name> {
  return byName.get(name) as unknown as RouteOf<Name>;
}
