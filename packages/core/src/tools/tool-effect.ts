/** Effects that calls of a tool have beside answering, so that a person can be asked about those that change something. */
import { EFFECT } from "../internal-symbols.ts";

/**
 * - `reads`: changes nothing outside of the thread.
 * - `files`: changes files.
 * - `commands`: runs commands.
 * - `network`: sends or changes something elsewhere.
 * - `unknown`: nobody has said; treat it as a change.
 */
export type ToolEffect = "reads" | "files" | "commands" | "network" | "unknown";

const EFFECTS: ReadonlySet<unknown> = new Set<ToolEffect>([
  "reads",
  "files",
  "commands",
  "network",
  "unknown",
]);

/** The same tool, with its effect. It is not in `metadata`, which LangChain copies into every result. */
export function withEffect<Tool extends object>(tool: Tool, effect: ToolEffect): Tool {
  return Object.defineProperty(tool, EFFECT, { value: effect, enumerable: true });
}

/** The effect a tool declares, tools of users by `metadata.effect`; anything else is `unknown`. */
export function toolEffect(tool: unknown): ToolEffect {
  const { [EFFECT]: own, metadata } = (tool ?? {}) as {
    readonly [EFFECT]?: unknown;
    readonly metadata?: { readonly effect?: unknown } | null;
  };
  const declared = own ?? metadata?.effect;
  return EFFECTS.has(declared) ? (declared as ToolEffect) : "unknown";
}
