/** The commands of a run: where they run, who asks about them, and who ends what is left of them. */
import type { CompositeBackend, ExecuteOptions, ExecuteResponse } from "deepwright";
import type { SandboxKind } from "./sandbox-kind.ts";

export interface Commands {
  readonly kind: SandboxKind;
  readonly id: string;
  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse>;
  /** How commands see the files, for the model. */
  readonly note: string;
  /** Describes what a command can do, for the approval question. */
  readonly reach: string;
  /** In one line, what a run begins with. */
  readonly line: string;
  /** The line is a warning: it is said in red, and also to those who want it quiet. */
  readonly isWarning?: boolean;
  /** Serves files and commands in one; absent: only commands. */
  readonly backend?: ConstructorParameters<typeof CompositeBackend>[0];
  /** Its files are not those of the directory. */
  readonly isElsewhere?: boolean;
  /** Ends it with all that runs in it. Safe twice. */
  close(): Promise<void>;
}

const CLOSING_MS = 5_000;

/** `opening` may still be under way, or have failed. What does not answer must not keep the process from ending. */
export async function closeCommands(
  opening: Promise<{ close(): Promise<void> } | undefined> | undefined,
): Promise<void> {
  if (!opening) return;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSING_MS);
  });
  const closing = opening.then((opened) => opened?.close()).catch(() => {});
  await Promise.race([closing, patience]);
  clearTimeout(timer);
}
