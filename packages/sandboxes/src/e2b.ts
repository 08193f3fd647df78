/** Sandboxes at E2B: `createSandbox({ provider: e2bSandbox() })`. Needs the package `e2b`. */
import { isHandle } from "./checked-options.ts";
import { type E2bHandleOptions, type E2bSandboxOptions, e2bHandle, e2bSettings } from "./e2b/e2b-options.ts";
import { E2bProvider, ownedE2bSandbox } from "./e2b/e2b-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type { E2bCommandOptions, E2bHandleOptions, E2bSandboxOptions } from "./e2b/e2b-options.ts";
export type { VendorNetwork } from "./remote/vendor-network.ts";

/** Makes nothing and loads nothing until a sandbox is opened. */
export function e2bSandbox(options: E2bSandboxOptions | E2bHandleOptions | null = {}): SandboxProvider {
  if (isHandle<E2bHandleOptions>(options)) return ownedE2bSandbox(e2bHandle(options));
  return new E2bProvider(e2bSettings(options));
}
