/** The last step before a tool runs: a call that a person approved with its files still has these files. */
import type { TaskConfig } from "../../engine/engine.ts";
import { showPath } from "../../paths.ts";
import { changedInputs, workspaceUse } from "../approval-rules/call-inputs.ts";
import { lockWorkspace } from "../approval-rules/workspace-lock.ts";
import type { Loop } from "../contract/loop.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { inputsOf } from "./approval-need.ts";
import type { Permit } from "./call-permit.ts";

type Held = { readonly release: () => void } | { readonly refusal: string };

/**
 * Until `release` no other call of the thread or of its subagents changes files. Calls of tools that do not change
 * files do not wait.
 */
export async function holdWorkspace(
  loop: Loop,
  tool: AnyTool,
  { toolCall, approved, inputs }: Permit,
  config: TaskConfig,
): Promise<Held> {
  if (workspaceUse(tool) === undefined) return { release: () => {} };
  const shown = approved ? inputs : undefined;
  const thread = config.configurable?.thread_id as string | undefined;
  const release = await lockWorkspace(thread, (shown ?? []).length > 0, config.signal);
  if (shown === undefined) return { release };
  try {
    const now = await inputsOf(loop, toolCall, tool, config);
    const changed = changedInputs(shown, now?.files ?? []);
    if (changed.length === 0) return { release };
    release();
    return { refusal: words(changed) };
  } catch (error) {
    release();
    throw error;
  }
}

function words(changed: readonly string[]): string {
  const names = changed.map((path) => showPath(path)).join(", ");
  return `Error: ${names} changed since this call was approved. Nothing was run. Make the call again: a person then decides about it as it is now.`;
}
