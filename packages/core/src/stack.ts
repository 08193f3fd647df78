/** Which middleware an agent has, in which order: the one place where the order is decided. */
import type { AgentMiddleware } from "langchain";
import type { BackendFactory, BackendProtocol } from "./backends/backend.ts";
import { ConfigurationError } from "./errors.ts";
import { createFilesystemMiddleware } from "./middleware/filesystem.ts";
import { INHERIT, type WithInheritance } from "./middleware/inherit.ts";
import { createTodoListMiddleware } from "./middleware/todo-list.ts";

export interface StackOptions {
  readonly backend?: BackendProtocol | BackendFactory | undefined;
  readonly given: readonly AgentMiddleware[];
  /** Lower-case names of built-in middleware that was turned off. */
  readonly off: ReadonlySet<string>;
}

/**
 * Todo list, filesystem, then the user's. One of the user's with the name of a built-in one (in any
 * case) takes its place and inherits the options it leaves unset.
 */
export function middlewareStack(options: StackOptions): readonly AgentMiddleware[] {
  const builtIn = [createTodoListMiddleware(), createFilesystemMiddleware(withBackend(options))];
  refuseDuplicates(options.given);
  refuseUnknownSwitches(options.off, builtIn);
  const replaced = new Set<AgentMiddleware>();
  const core = builtIn.flatMap((middleware) => {
    const replacement = options.given.find((candidate) => sameName(candidate, middleware));
    if (replacement === undefined) return options.off.has(middleware.name.toLowerCase()) ? [] : [middleware];
    replaced.add(replacement);
    return [inherit(replacement, options)];
  });
  return [...core, ...options.given.filter((middleware) => !replaced.has(middleware))];
}

function withBackend(options: StackOptions): { backend?: BackendProtocol | BackendFactory } {
  return options.backend === undefined ? {} : { backend: options.backend };
}

function inherit(middleware: AgentMiddleware, options: StackOptions): AgentMiddleware {
  return (middleware as WithInheritance)[INHERIT]?.(withBackend(options)) ?? middleware;
}

function sameName(a: AgentMiddleware, b: AgentMiddleware): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase();
}

function refuseDuplicates(given: readonly AgentMiddleware[]): void {
  const twice = given.find((m, i) => given.findIndex((other) => sameName(other, m)) !== i);
  if (twice)
    throw new ConfigurationError("DUPLICATE_MIDDLEWARE", `The middleware '${twice.name}' was given twice.`, {
      hint: "Give each middleware a name of its own.",
    });
}

function refuseUnknownSwitches(off: ReadonlySet<string>, builtIn: readonly AgentMiddleware[]): void {
  const names = builtIn.map((middleware) => middleware.name);
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
