/** Devboxes at Runloop. `@runloop/api-client` is loaded when one is opened. */
import { isHandle } from "./checked-options.ts";
import type { SandboxProvider } from "./provider.ts";
import {
  type RunloopHandleOptions,
  type RunloopSandboxOptions,
  runloopHandle,
  runloopSettings,
} from "./runloop/runloop-options.ts";
import { ownedRunloopSandbox, RunloopProvider } from "./runloop/runloop-provider.ts";

export type {
  RunloopCommandOptions,
  RunloopHandleOptions,
  RunloopNetwork,
  RunloopSandboxOptions,
} from "./runloop/runloop-options.ts";

/** Makes no calls yet. A `sandbox` (a devbox) that the caller passes is used, and never shut down. */
export function runloopSandbox(
  options: RunloopSandboxOptions | RunloopHandleOptions | null = {},
): SandboxProvider {
  if (isHandle<RunloopHandleOptions>(options)) return ownedRunloopSandbox(runloopHandle(options));
  return new RunloopProvider(runloopSettings(options));
}
