/** Calls of a backend that the harness itself makes, not a tool. */
import { HARNESS } from "../internal-symbols.ts";
import type { OperationOptions } from "./backend.ts";
import { withoutOpenCheck } from "./open-check.ts";

/** The same options, for a call that rules do not bind and that may write in the areas of the harness. Backends around others pass it on. */
export function asHarness<Options extends OperationOptions>(options: Options = {} as Options): Options {
  return { ...withoutOpenCheck(options), [HARNESS]: true };
}

export function isHarnessCall(options: OperationOptions | undefined): boolean {
  return (options as { readonly [HARNESS]?: boolean } | undefined)?.[HARNESS] === true;
}
