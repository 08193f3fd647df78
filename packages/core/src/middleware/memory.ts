/** Memory files in the system prompt, kept current, and rules of the directories the agent works in. */

import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { type BackendSource, mayUseState } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state/state.ts";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT } from "../internal-symbols.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { REMINDERS, remindersValue } from "../loop/messages/reminders.ts";
import { createMemoryStages } from "../memory/memory-stages.ts";
import type { SectionOptions } from "../memory/section.ts";
import type { IsUntrusted } from "../memory/visit.ts";
import { canonicalPath, isWithin, parentPath, showPath } from "../paths.ts";
import type { UntrustedSources } from "../subagents/defaults.ts";
import { withHome } from "./home-path.ts";
import { type AgentDefaults, inheritedBackend, type WithInheritance } from "./inherit.ts";

/** null means absent. */
export interface MemoryMiddlewareOptions {
  /** Paths of memory files, shown in this order. Relative paths start at the backend's working directory. */
  readonly sources: readonly string[];
  /** Where the files are; default: the state of the thread. */
  readonly backend?: BackendSource | null;
  /** Replaces our words before the files; `""` removes them. */
  readonly systemPrompt?: string | null;
  /** Taken for compatibility: prompt caching marks the end of the system prompt, memory included. */
  readonly addCacheControl?: boolean | null;
  /** Whether AGENTS.md files are looked for in the directories the agent works in; default true. */
  readonly nested?: boolean | null;
  /** Sources that the prompt calls read-only. */
  readonly readOnly?: readonly string[] | null;
  /**
   * Untrusted files are shown as data, outside the system prompt: paths of sources, or a function of a path and its
   * text. The function is also called for rules found in subdirectories; with a list these count like the source above
   * them. Default: none.
   */
  readonly untrusted?: UntrustedSources["memory"];
  /** Characters shown of one file; default 32,000, and no more than a fifth of the window. */
  readonly maxFileCharacters?: number | null;
  /** Characters shown of all files; default 64,000, and no more than a fifth of the window. */
  readonly maxTotalCharacters?: number | null;
}

export type MemoryMiddleware = AgentMiddleware & WithStages & WithInheritance;

const FILE_LIMIT = 32_000;
const TOTAL_LIMIT = 64_000;

export function createMemoryMiddleware(options: MemoryMiddlewareOptions): MemoryMiddleware {
  return {
    ...memoryMiddleware("MemoryMiddleware", "_memory", options),
    [INHERIT]: (defaults: AgentDefaults) =>
      createMemoryMiddleware({
        ...options,
        backend: inheritedBackend(options.backend, defaults),
        untrusted: options.untrusted ?? defaults.untrusted?.memory ?? null,
      }),
  };
}

/** Under a name and a private key of its own, so that an agent can have several. */
export function memoryMiddleware(
  name: string,
  key: string,
  options: MemoryMiddlewareOptions,
): AgentMiddleware & WithStages {
  checkOptions(options);
  const backend = options.backend ?? new StateBackend();
  const keys = { loaded: key, announced: `${key}Told` };
  const channels = { [keys.loaded]: z.any(), [keys.announced]: z.any(), [REMINDERS]: remindersValue() };
  const stages = createMemoryStages({
    keys,
    sources: options.sources.map(withHome),
    readOnly: (options.readOnly ?? []).map(withHome),
    backend,
    nested: options.nested ?? true,
    isUntrusted: untrustedMemory(options.untrusted ?? []),
    sectionFor: (window) => sectionFor(options, window),
  });
  const fields = mayUseState(backend) ? { ...channels, files: filesValue } : channels;
  return builtInMiddleware({ name, stateSchema: new StateSchema(fields) as never, stages });
}

function untrustedMemory(untrusted: NonNullable<UntrustedSources["memory"]>): IsUntrusted {
  if (typeof untrusted === "function") return ({ path }, text) => untrusted(path, text) !== false;
  const paths = untrusted.flatMap((path) => canonicalPath(withHome(path)).path ?? []);
  return ({ path, nested }) =>
    paths.some((one) => one === path || (nested === true && isWithin(path, parentPath(one))));
}

/** Share of a window, unless the user set an amount. */
const WINDOW_SHARE = 0.2;
const CHARACTERS_PER_TOKEN = 4;

function sectionFor(options: MemoryMiddlewareOptions, window = Number.POSITIVE_INFINITY): SectionOptions {
  const share = Math.floor(window * WINDOW_SHARE * CHARACTERS_PER_TOKEN);
  return {
    guide: options.systemPrompt ?? undefined,
    fileLimit: options.maxFileCharacters ?? Math.min(FILE_LIMIT, share),
    totalLimit: options.maxTotalCharacters ?? Math.min(TOTAL_LIMIT, share),
    ...(options.maxTotalCharacters == null &&
      Number.isFinite(window) && { tokens: Math.floor(window * WINDOW_SHARE) }),
  };
}

const OPTION_NAMES = [
  "sources",
  "backend",
  "systemPrompt",
  "addCacheControl",
  "nested",
  "readOnly",
  "untrusted",
  "maxFileCharacters",
  "maxTotalCharacters",
];

function checkOptions(options: MemoryMiddlewareOptions): void {
  checkNames("createMemoryMiddleware", options, OPTION_NAMES);
  const { sources, readOnly, maxFileCharacters, maxTotalCharacters } = options ?? {};
  const { systemPrompt, nested, addCacheControl } = options ?? {};
  const { untrusted } = options ?? {};
  const marked = typeof untrusted === "function" ? [] : (untrusted ?? []);
  for (const [name, list] of Object.entries({ sources, readOnly: readOnly ?? [], untrusted: marked }))
    checkPaths(name, list);
  checkKind("boolean", { nested, addCacheControl });
  checkKind("string", { systemPrompt });
  for (const [name, limit] of Object.entries({ maxFileCharacters, maxTotalCharacters }))
    if (limit != null && !(Number.isInteger(limit) && limit > 0))
      throw new ConfigurationError("INVALID_OPTION", `The option '${name}' must be a whole number above 0.`);
}

/** The words fit the option `memory` of an agent too. */
function checkPaths(option: string, list: unknown): void {
  if (!Array.isArray(list) || !list.every((path) => typeof path === "string"))
    throw new ConfigurationError("INVALID_OPTION", `The option '${option}' must be a list of paths.`, {
      hint: 'For example ["/AGENTS.md"].',
    });
  for (const path of list) {
    const { error } = canonicalPath(withHome(path));
    if (error === undefined) continue;
    const message = `The memory path '${showPath(path)}' cannot be used: ${error}.`;
    throw new ConfigurationError("INVALID_OPTION", message, {
      hint: "Write it from the root of the backend, without `..`.",
    });
  }
}
