/** Tool calls that the harness makes itself. They pass the same gate as calls of the model. */
import type { ToolMessage } from "@langchain/core/messages";
import type { AnyTool } from "../providers/any-tool.ts";

export interface HarnessCalls {
  /** A person saw these calls and approved the model's call that they belong to. */
  readonly isApproved: boolean;
  toolNamed(name: string): AnyTool | undefined;
  /** The result; a call that may not run, or that fails, is a result with status `error`. */
  call(name: string, args: Record<string, unknown>): Promise<ToolMessage>;
}

/** By the config of a tool call or the runtime of a hook, so that tools of others do not get hold of them. */
const known = new WeakMap<object, HarnessCalls>();

export function giveHarnessCalls(owner: object, calls: HarnessCalls): void {
  known.set(owner, calls);
}

/** For the runtime of a tool or of a hook of the phase `afterAgent`; undefined in loops that are not ours. */
export function harnessCallsOf(runtime: unknown): HarnessCalls | undefined {
  const { config } = runtime as { readonly config?: object };
  return known.get(config ?? (runtime as object));
}
