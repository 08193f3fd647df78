/** Sandboxes at E2B: `createSandbox({ provider: e2bSandbox() })`. Needs the package `e2b`. */
import { type E2bHandleOptions, type E2bSandboxOptions, e2bSettings } from "./e2b/e2b-options.ts";
import { E2bProvider, ownedE2bSandbox } from "./e2b/e2b-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type { E2bCommandOptions, E2bHandleOptions, E2bSandboxOptions } from "./e2b/e2b-options.ts";
export type { VendorNetwork } from "./remote/vendor-network.ts";

/** Makes nothing and loads nothing until a sandbox is opened. */
export function e2bSandbox(options: E2bSandboxOptions | E2bHandleOptions = {}): SandboxProvider {
  if ("sandbox" in options && options.sandbox !== undefined) return ownedE2bSandbox(options);
  return new E2bProvider(e2bSettings(options as E2bSandboxOptions));
}
