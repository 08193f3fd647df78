/** Parts that settings add to an agent: rules, hooks, fallbacks and subagents. One place for `run`, `serve` and the app. */
import type { Mcp } from "@deepwright/mcp";
import type { PermissionList } from "deepwright";
import { hookMiddleware } from "../hooks/hook-middleware.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import { commandGuard } from "../settings/command-guard.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { UserAgent } from "../user-files/user-agents.ts";
import type { RunSettings } from "./run-settings.ts";

type Library = typeof import("deepwright");
type Model = Awaited<ReturnType<typeof loadModel>>;

export interface AgentAdditions {
  readonly middleware: readonly object[];
  /** Options of `createDeepAgent`. */
  readonly options: {
    readonly permissions?: PermissionList;
    readonly permissionCeiling?: PermissionList;
  };
  /** For the system prompt; empty: nothing. */
  readonly words: string;
}

/** Models of fallbacks and of subagents, by their names in the settings. */
export type LoadedModels = ReadonlyMap<string, Model>;

const READ_ONLY: PermissionList = [{ operations: ["write"], paths: ["/**"], mode: "deny" }];

export interface AdditionParts {
  readonly agents: readonly UserAgent[];
  readonly models: LoadedModels;
  readonly mcp: Mcp | undefined;
  /** Middleware for the agent and all of its subagents, before the others. */
  readonly inFront?: readonly object[];
}

export function agentAdditions(
  library: Library,
  { settings, hooks, judge }: RunSettings,
  { agents, models, mcp, inFront = [] }: AdditionParts,
): AgentAdditions {
  const isPlan = settings.mode === "plan";
  const rules: PermissionList = [...(isPlan ? READ_ONLY : []), ...(settings.permissions ?? [])];
  const guards = [
    ...inFront,
    ...(judge ? [commandGuard(judge)] : []),
    ...(hooks ? [hookMiddleware(hooks)] : []),
  ];
  const fallbacks = (settings.fallbacks ?? []).flatMap((name) => models.get(name) ?? []);
  const everywhere = [...guards, ...(fallbacks.length > 0 ? [fallbackMiddleware(fallbacks)] : [])];
  const ofServers = mcp ? [mcp.middleware] : [];
  const team = library.createSubAgentMiddleware({
    defaultMiddleware: everywhere,
    generalPurposeMiddleware: [...everywhere, ...ofServers],
    subagents: agents.map(({ modelName, ...agent }) => ({
      ...agent,
      ...(modelName !== undefined && models.has(modelName) && { model: models.get(modelName) as never }),
    })),
  });
  const hasTeam = everywhere.length + ofServers.length + agents.length > 0;
  return {
    middleware: [...everywhere, ...ofServers, ...(hasTeam ? [team] : [])],
    options: rules.length > 0 ? { permissions: rules, permissionCeiling: rules } : {},
    words: isPlan ? PLAN : "",
  };
}

const PLAN =
  "You may only look: files cannot be changed and commands do not run. End with a plan of what you would change.";

interface ModelRequest {
  readonly model: unknown;
}

/** Asks the next model when one fails. An aborted run asks no other. */
function fallbackMiddleware(models: readonly Model[]) {
  return {
    name: "FallbackMiddleware",
    wrapModelCall: async <Request extends ModelRequest, Result>(
      request: Request,
      handler: (request: Request) => Promise<Result> | Result,
    ): Promise<Result> => {
      for (const model of [undefined, ...models.slice(0, -1)])
        try {
          return await handler(model === undefined ? request : { ...request, model });
        } catch (error) {
          if ((error as { name?: unknown }).name === "AbortError") throw error;
        }
      return handler({ ...request, model: models.at(-1) });
    },
  };
}

/** Loads the models of fallbacks and subagents. A model that cannot be loaded is left out, and a line says so. */
export async function loadNamedModels(
  names: readonly (string | undefined)[],
  console: Console,
): Promise<LoadedModels> {
  const wanted = [...new Set(names.filter((name) => name !== undefined))];
  const loaded = await Promise.all(
    wanted.map(async (name) => {
      try {
        const settings = { model: { value: name, source: `'${safeLine(name, 80)}' of the settings` } };
        const { DEEPWRIGHT_MODEL: _, DEEPWRIGHT_BASE_URL: __, ...environment } = process.env;
        return [[name, await loadModel(await chooseModel({ settings }, environment, endpoints))] as const];
      } catch (error) {
        console.line(console.colours.yellow(`Warning: ${safeLine((error as Error).message, 300)}`));
        return [];
      }
    }),
  );
  return new Map(loaded.flat());
}
