/** The hooks of a directory, by event. Only trusted settings reach this place. */
import type { HookEvent } from "../settings/hook-events.ts";
import type { Settings } from "../settings/schema.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { runHook } from "./run-hook.ts";

/** A hook's verdict. `refused` carries words for the model or the person. */
export type HookVerdict = { readonly refused?: undefined } | { readonly refused: string };

export interface Hooks {
  /** Reasons by the ids of calls that a hook refused before anybody was asked. */
  readonly refusals: Map<string, string>;
  /** Whether anything would run. */
  has(event: HookEvent, tool?: string): boolean;
  /**
   * Runs the hooks of the event in their order, until one refuses. `input` is what they get on stdin, beside `event` and
   * `directory`. A hook that fails refuses where it stands before a call, and is a warning elsewhere.
   */
  run(event: HookEvent, input: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<HookVerdict>;
}

export interface HooksRequest {
  readonly settings: Settings["hooks"];
  /** The real path of the project's directory, where hooks start. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onWarning: (words: string) => void;
}

const REFUSE = 2;
const GUARDS: ReadonlySet<HookEvent> = new Set(["before-tool", "before-approval"]);

/** Undefined where there are none. */
export function openHooks({ settings, directory, env, onWarning }: HooksRequest): Hooks | undefined {
  if (settings === undefined || Object.values(settings).every((list) => (list ?? []).length === 0))
    return undefined;
  const chosen = (event: HookEvent, tool: unknown) =>
    (settings[event] ?? []).filter(
      ({ tools }) => typeof tool !== "string" || !tools || tools.some(matches(tool)),
    );
  return {
    refusals: new Map(),
    has: (event, tool) => chosen(event, tool).length > 0,
    run: async (event, input, signal) => {
      for (const hook of chosen(event, input.tool)) {
        const result = await runHook(hook, { event, directory, ...input }, { directory, env, signal });
        const name = `The ${event} hook '${safeLine(hook.command, 80)}'`;
        if (result.kind === "ended" && result.code === 0) continue;
        if (result.kind === "ended" && result.code === REFUSE)
          return { refused: result.reason || `${name} refused it.` };
        const words = `${name} ${result.kind === "failed" ? result.reason : `ended with ${result.code}: ${result.reason}`}`;
        if (result.kind === "failed" && GUARDS.has(event)) return { refused: `${words}.` };
        onWarning(words);
      }
      return {};
    },
  };
}

function matches(tool: string): (pattern: string) => boolean {
  return (pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "s").test(tool);
  };
}
