/** Calls of a backend that the harness itself makes, not a tool. */
import type { OperationOptions } from "./backend.ts";
import { withoutOpenCheck } from "./open-check.ts";

/** A symbol: what a model sends is JSON and cannot hold it. */
const HARNESS: unique symbol = Symbol.for("deepwright.harness") as never;

/** The same options, for a call that rules do not bind and that may write in the areas of the harness. Backends around others pass it on. */
export function asHarness<Options extends OperationOptions>(options: Options = {} as Options): Options {
  return { ...withoutOpenCheck(options), [HARNESS]: true };
}

export function isHarnessCall(options: OperationOptions | undefined): boolean {
  return (options as { readonly [HARNESS]?: boolean } | undefined)?.[HARNESS] === true;
}
