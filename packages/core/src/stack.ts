/** The middleware of an agent and its order: the one place where the order is decided. */
import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "./backends/backend.ts";
import { StateBackend } from "./backends/state/state.ts";
import type { Budget } from "./budget/limits.ts";
import { ConfigurationError } from "./errors.ts";
import { INHERIT } from "./internal-symbols.ts";
import { stagesOf } from "./loop/contract/stages.ts";
import { ASYNC_SUBAGENT_MIDDLEWARE } from "./middleware/async-subagents.ts";
import { createBudgetMiddleware } from "./middleware/budget.ts";
import {
  createFilesystemMiddleware,
  FILESYSTEM_TOOL_NAMES,
  type FilesystemMiddlewareOptions,
} from "./middleware/filesystem.ts";
import type { AgentDefaults, WithInheritance } from "./middleware/inherit.ts";
import { createLoopDetectionMiddleware } from "./middleware/loop-detection.ts";
import { createMemoryMiddleware } from "./middleware/memory.ts";
import { createModelRetryMiddleware } from "./middleware/model-retry.ts";
import { createPromptCachingMiddleware } from "./middleware/prompt-caching.ts";
import { createSkillsMiddleware } from "./middleware/skills.ts";
import { SUBAGENT_MIDDLEWARE } from "./middleware/subagents.ts";
import { createSummarizationMiddleware } from "./middleware/summarization.ts";
import { createTodoListMiddleware } from "./middleware/todo-list.ts";
import { guardBackend } from "./permissions/guard.ts";
import type { Rules } from "./permissions/rules.ts";
import type { UntrustedSources } from "./subagents/defaults.ts";

export interface StackOptions {
  /** The backend as the caller gave it. The stack puts the permissions in front of it. */
  readonly backend?: BackendProtocol | BackendFactory | undefined;
  readonly permissions?: Rules | undefined;
  /** Paths of memory files and of directories of skills. Without paths the agent has no such middleware. */
  readonly memory?: readonly string[];
  readonly skills?: readonly string[];
  readonly untrusted?: UntrustedSources | undefined;
  /** Delegation middleware, defaults of the subagents, and options for both. */
  readonly subagents?: AgentMiddleware | undefined;
  /** The middleware for background tasks; absent without async subagents. */
  readonly asyncSubagents?: AgentMiddleware | undefined;
  readonly children?: AgentDefaults["children"];
  readonly delegation?: AgentDefaults["delegation"];
  readonly budget?: Budget | undefined;
  readonly given: readonly AgentMiddleware[];
  /** Lower-case names of built-in middleware that was turned off. */
  readonly off: ReadonlySet<string>;
  /** Names of middleware no agent on this model has, and of tools; in any case, and as they are. */
  readonly excluded?: ReadonlySet<string>;
  readonly excludedTools?: ReadonlySet<string>;
}

/**
 * Todo list, memory, skills, filesystem, subagents, summarization, prompt caching, model fallback (only if given),
 * model retry, budget, loop detection, async subagents, then the user's. A middleware of the user with the name of a
 * built-in one (in any case) replaces it. Ours inherit unset options from the agent, at any position.
 */
export function middlewareStack(given: StackOptions): readonly AgentMiddleware[] {
  const options = guarded(given);
  const slots = builtInSlots(options);
  refuseDuplicates(options.given);
  refuseUnknownSwitches(options.off, slots);
  refuseIdleBudget(options);
  const replaced = new Set<AgentMiddleware>();
  const core = slots.flatMap(({ name, middleware, isOursAlone }) => {
    const replacement = options.given.find((candidate) => sameName(candidate, { name }));
    if (replacement !== undefined && isOursAlone && stagesOf(replacement) === undefined) return [];
    if (replacement !== undefined) {
      replaced.add(replacement);
      return [inherit(replacement, options)];
    }
    return middleware === undefined || options.off.has(name.toLowerCase()) ? [] : [middleware];
  });
  const others = options.given.filter((middleware) => !replaced.has(middleware));
  const all = [...core, ...others.map((middleware) => inherit(middleware, options))];
  const excluded = new Set([...(options.excluded ?? [])].map((name) => name.toLowerCase()));
  return excluded.size === 0 ? all : all.filter(({ name }) => !excluded.has(name.toLowerCase()));
}

interface Slot {
  readonly name: string;
  /** A stranger of this name stays where its user put it, and the built-in one steps aside. */
  readonly isOursAlone?: boolean;
  /** Absent: the place is kept for one of the user's. */
  readonly middleware?: AgentMiddleware | undefined;
}

function builtInSlots(options: StackOptions): readonly Slot[] {
  const { memory = [], skills = [], untrusted = {} } = options;
  const backend = withBackend(options);
  return [
    slot(createTodoListMiddleware()),
    {
      name: "MemoryMiddleware",
      middleware:
        memory.length > 0
          ? createMemoryMiddleware({ ...backend, sources: memory, untrusted: untrusted.memory })
          : undefined,
    },
    {
      name: "SkillsMiddleware",
      middleware:
        skills.length > 0
          ? createSkillsMiddleware({ ...backend, sources: skills, untrusted: untrusted.skills })
          : undefined,
    },
    slot(createFilesystemMiddleware({ ...backend, ...fileTools(options) })),
    { name: SUBAGENT_MIDDLEWARE, middleware: options.subagents },
    slot(createSummarizationMiddleware(backend)),
    slot(createPromptCachingMiddleware()),
    { name: "ModelFallbackMiddleware", isOursAlone: true },
    { ...slot(createModelRetryMiddleware()), isOursAlone: true },
    slot(createBudgetMiddleware(options.budget)),
    slot(createLoopDetectionMiddleware()),
    { name: ASYNC_SUBAGENT_MIDDLEWARE, middleware: options.asyncSubagents },
  ];
}

/** Excluded tools are not made either, so that no text mentions them. */
function fileTools({ excludedTools }: StackOptions): Pick<FilesystemMiddlewareOptions, "tools"> {
  if (!FILESYSTEM_TOOL_NAMES.some((name) => excludedTools?.has(name))) return {};
  return { tools: FILESYSTEM_TOOL_NAMES.filter((name) => !excludedTools?.has(name)) };
}

function slot(middleware: AgentMiddleware): Slot {
  return { name: middleware.name, middleware };
}

function withBackend(options: StackOptions): { backend?: BackendProtocol | BackendFactory } {
  return options.backend === undefined ? {} : { backend: options.backend };
}

/** Every built-in middleware works on the backend behind the permissions. */
function guarded(options: StackOptions): StackOptions {
  const { backend, permissions } = options;
  if (permissions === undefined || permissions.length === 0) return options;
  return { ...options, backend: guardBackend(backend ?? new StateBackend(), permissions) as never };
}

function defaultsOf(options: StackOptions): AgentDefaults {
  return {
    ...withBackend(options),
    permissions: options.permissions,
    untrusted: options.untrusted,
    children: options.children,
    delegation: options.delegation,
  };
}

function inherit(middleware: AgentMiddleware, options: StackOptions): AgentMiddleware {
  if (options.permissions?.length) refuseUnguarded(middleware);
  return (middleware as WithInheritance)[INHERIT]?.(defaultsOf(options)) ?? middleware;
}

/** File tools of other libraries would ignore the permissions. */
function refuseUnguarded(middleware: AgentMiddleware): void {
  if (!sameName(middleware, { name: "FilesystemMiddleware" }) || INHERIT in middleware) return;
  throw new ConfigurationError(
    "INVALID_PERMISSION",
    "The permissions would not hold for the FilesystemMiddleware that was given in place of the built-in one.",
    { hint: "Make it with createFilesystemMiddleware, or give it another name." },
  );
}

function sameName(a: { readonly name: string }, b: { readonly name: string }): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase();
}

function refuseDuplicates(given: readonly AgentMiddleware[]): void {
  const twice = given.find((m, i) => given.findIndex((other) => sameName(other, m)) !== i);
  if (twice)
    throw new ConfigurationError("DUPLICATE_MIDDLEWARE", `The middleware '${twice.name}' was given twice.`, {
      hint: "Give each middleware its own name.",
    });
}

/** A budget without the middleware that enforces it would only look like one. */
function refuseIdleBudget({ budget, given, off, excluded }: StackOptions): void {
  const name = "BudgetMiddleware";
  if (budget === undefined) return;
  const isOff =
    off.has(name.toLowerCase()) || [...(excluded ?? [])].some((other) => sameName({ name }, { name: other }));
  if (!isOff && !given.some((middleware) => sameName(middleware, { name }))) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The option 'budget' has no effect without the built-in ${name}.`,
    { hint: `Leave the budget out, or leave ${name} in place.` },
  );
}

function refuseUnknownSwitches(off: ReadonlySet<string>, slots: readonly Slot[]): void {
  const names = slots.map(({ name }) => name);
  const unknown = [...off].find((name) => !names.some((known) => known.toLowerCase() === name));
  if (unknown !== undefined)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `There is no built-in middleware '${unknown}' to turn off.`,
      {
        hint: `The built-in ones are: ${names.join(", ")}.`,
      },
    );
}
