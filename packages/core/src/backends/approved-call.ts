/** A tool call that a person approved may do things that otherwise need approval. */
import type { BackendRuntime } from "./backend.ts";

const APPROVED = "__deepwright_approved";

interface Configured {
  readonly configurable?: Record<string, unknown>;
}

interface Approval {
  readonly callId: string;
  /** The task that the call runs in. A graph that runs inside the call has another task. */
  readonly task: unknown;
  readonly places: readonly string[] | undefined;
}

/**
 * The config of a call that a person approved unchanged; only the gateway makes it. Runs inside the call do not get it.
 * `places`: the files of the call when the person was asked; absent: they are unknown.
 */
export function approvedConfig<Config extends Configured>(
  config: Config,
  callId: string,
  places?: readonly string[],
): Config {
  const approval: Approval = { callId, places, task: taskOf(config) };
  return { ...config, configurable: { ...config.configurable, [APPROVED]: approval } };
}

export function withoutApproval<Config extends Configured>(config: Config): Config {
  if (config.configurable?.[APPROVED] === undefined) return config;
  const { [APPROVED]: _, ...configurable } = config.configurable;
  return { ...config, configurable };
}

/** The paths that the approval of the current call covers: canonical paths, or anywhere. */
export function approvedPaths({
  config,
}: Pick<BackendRuntime, "config">): readonly string[] | "anywhere" | undefined {
  const given = config as Configured | undefined;
  const approval = given?.configurable?.[APPROVED] as Approval | undefined;
  if (approval === undefined || approval.task !== taskOf(given)) return undefined;
  return approval.places ?? "anywhere";
}

function taskOf(config: Configured | undefined): unknown {
  return config?.configurable?.checkpoint_ns;
}

/** Whether the call that a backend works for was approved. */
export function isApprovedCall(runtime: Pick<BackendRuntime, "config">): boolean {
  return approvedPaths(runtime) !== undefined;
}
