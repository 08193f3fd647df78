/** A tool call that a person has agreed to may do what otherwise needs approval. */
import type { BackendRuntime } from "./backend.ts";

const APPROVED = "__deepwright_approved";

interface Configured {
  readonly configurable?: Record<string, unknown>;
}

/** The config of a call a person approved as it is; only the gateway makes it. Runs inside the call do not get it. */
export function approvedConfig<Config extends Configured>(config: Config, callId: string): Config {
  return { ...config, configurable: { ...config.configurable, [APPROVED]: callId } };
}

export function withoutApproval<Config extends Configured>(config: Config): Config {
  if (config.configurable?.[APPROVED] === undefined) return config;
  const { [APPROVED]: _, ...configurable } = config.configurable;
  return { ...config, configurable };
}

/** Whether the call that a backend works for was approved. */
export function isApprovedCall({ config }: Pick<BackendRuntime, "config">): boolean {
  return (config as Configured | undefined)?.configurable?.[APPROVED] !== undefined;
}
