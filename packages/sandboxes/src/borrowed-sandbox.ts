/** A sandbox that the caller owns. */
import type { BaseSandbox } from "deepwright";
import type { OpenedSandbox } from "./provider.ts";

/** A lease uses the place and leaves it alone: its owner ends it. Nothing of ours stays in it between operations. */
export function borrowedSandbox(id: string, sandbox: BaseSandbox): OpenedSandbox {
  const letGo = async (): Promise<void> => undefined;
  return { id, sandbox, detach: letGo, destroy: letGo };
}
