/** Requests to take back what a thread did to files. The dialog that answers them is loaded with the first one. */
import { signal } from "@preact/signals";

export type UndoRequest =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "call"; readonly call: string }
  /** The step that ended with this checkpoint. */
  | { readonly kind: "step"; readonly checkpointId: string }
  /** Changes of the subagent of this task. */
  | { readonly kind: "agent"; readonly task: string }
  /** Everything since a message of a person, since the step of a call, or behind a checkpoint. */
  | { readonly kind: "since-message"; readonly messageId: string }
  | { readonly kind: "since-call"; readonly call: string }
  | { readonly kind: "since"; readonly checkpointId: string }
  | { readonly kind: "last" }
  | { readonly kind: "all" };

export const undoRequest = signal<UndoRequest | undefined>(undefined);

/** Grows with each restore, so that views of files look again. */
export const restores = signal(0);

export function askUndo(request: UndoRequest): void {
  undoRequest.value = request;
}

const CHANGING_TOOLS: ReadonlySet<string> = new Set(["write_file", "edit_file", "delete", "execute", "task"]);

export const changesFiles = (tool: string): boolean => CHANGING_TOOLS.has(tool);

/** The task of a subagent that the agent of the thread started. Undefined for deeper ones. */
export function taskOf(namespace: string): string | undefined {
  return /^tools:([\w-]+)$/.exec(namespace)?.[1];
}
