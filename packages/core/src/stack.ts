/** Which middleware an agent has, in which order: the one place where the order is decided. */
import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "./backends/backend.ts";
import { ConfigurationError } from "./errors.ts";
import { createFilesystemMiddleware } from "./middleware/filesystem.ts";
import { INHERIT, type WithInheritance } from "./middleware/inherit.ts";
import { createMemoryMiddleware } from "./middleware/memory.ts";
import { createPromptCachingMiddleware } from "./middleware/prompt-caching.ts";
import { createSkillsMiddleware } from "./middleware/skills.ts";
import { createSummarizationMiddleware } from "./middleware/summarization.ts";
import { createTodoListMiddleware } from "./middleware/todo-list.ts";

export interface StackOptions {
  readonly backend?: BackendProtocol | BackendFactory | undefined;
  /** Paths of memory files and of directories of skills; none: the agent has no such middleware. */
  readonly memory?: readonly string[];
  readonly skills?: readonly string[];
  readonly given: readonly AgentMiddleware[];
  /** Lower-case names of built-in middleware that was turned off. */
  readonly off: ReadonlySet<string>;
}

/**
 * Todo list, memory, skills, filesystem, summarization, prompt caching, then the user's. One of the user's with the name of a built-in one (in any
 * case) takes its place. Ours inherit the agent's options they leave unset, in whatever place.
 */
export function middlewareStack(options: StackOptions): readonly AgentMiddleware[] {
  const slots = builtInSlots(options);
  refuseDuplicates(options.given);
  refuseUnknownSwitches(options.off, slots);
  const replaced = new Set<AgentMiddleware>();
  const core = slots.flatMap(({ name, middleware }) => {
    const replacement = options.given.find((candidate) => sameName(candidate, { name }));
    if (replacement !== undefined) {
      replaced.add(replacement);
      return [inherit(replacement, options)];
    }
    return middleware === undefined || options.off.has(name.toLowerCase()) ? [] : [middleware];
  });
  const others = options.given.filter((middleware) => !replaced.has(middleware));
  return [...core, ...others.map((middleware) => inherit(middleware, options))];
}

interface Slot {
  readonly name: string;
  /** Absent: the place is kept for one of the user's. */
  readonly middleware?: AgentMiddleware | undefined;
}

function builtInSlots(options: StackOptions): readonly Slot[] {
  const { memory = [], skills = [] } = options;
  const backend = withBackend(options);
  return [
    slot(createTodoListMiddleware()),
    {
      name: "MemoryMiddleware",
      middleware: memory.length > 0 ? createMemoryMiddleware({ ...backend, sources: memory }) : undefined,
    },
    {
      name: "SkillsMiddleware",
      middleware: skills.length > 0 ? createSkillsMiddleware({ ...backend, sources: skills }) : undefined,
    },
    slot(createFilesystemMiddleware(backend)),
    slot(createSummarizationMiddleware(backend)),
    slot(createPromptCachingMiddleware()),
  ];
}

function slot(middleware: AgentMiddleware): Slot {
  return { name: middleware.name, middleware };
}

function withBackend(options: StackOptions): { backend?: BackendProtocol | BackendFactory } {
  return options.backend === undefined ? {} : { backend: options.backend };
}

function inherit(middleware: AgentMiddleware, options: StackOptions): AgentMiddleware {
  return (middleware as WithInheritance)[INHERIT]?.(withBackend(options)) ?? middleware;
}

function sameName(a: { readonly name: string }, b: { readonly name: string }): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase();
}

function refuseDuplicates(given: readonly AgentMiddleware[]): void {
  const twice = given.find((m, i) => given.findIndex((other) => sameName(other, m)) !== i);
  if (twice)
    throw new ConfigurationError("DUPLICATE_MIDDLEWARE", `The middleware '${twice.name}' was given twice.`, {
      hint: "Give each middleware a name of its own.",
    });
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
