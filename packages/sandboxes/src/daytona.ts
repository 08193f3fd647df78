/** Sandboxes at Daytona. `@daytonaio/sdk` is loaded when one is opened. */
import { isHandle } from "./checked-options.ts";
import {
  type DaytonaHandleOptions,
  type DaytonaSandboxOptions,
  daytonaHandle,
  daytonaSettings,
} from "./daytona/daytona-options.ts";
import { DaytonaProvider, ownedDaytonaSandbox } from "./daytona/daytona-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type {
  DaytonaCommandOptions,
  DaytonaHandleOptions,
  DaytonaSandboxOptions,
} from "./daytona/daytona-options.ts";
export type { VendorNetwork } from "./remote/vendor-network.ts";

/** Makes no calls yet. A `sandbox` that the caller passes is used, and never stopped. */
export function daytonaSandbox(
  options: DaytonaSandboxOptions | DaytonaHandleOptions | null = {},
): SandboxProvider {
  if (isHandle<DaytonaHandleOptions>(options)) return ownedDaytonaSandbox(daytonaHandle(options));
  return new DaytonaProvider(daytonaSettings(options));
}
