import type { BackendRuntime } from "../backend.ts";
import { undoLogOf } from "../undo-log.ts";
import { undoTreeName } from "./undo-tree.ts";

const MAX_NOTED_CHARACTERS = 2000;

/** Notes with the thread of a run that a command is about to run in `rootDir`: what it changes cannot be taken back. */
export async function noteCommand(command: string, rootDir: string, runtime: BackendRuntime): Promise<void> {
  await undoLogOf(runtime)?.record({
    place: undoTreeName(rootDir).replace("disk:", "command:"),
    path: command.slice(0, MAX_NOTED_CHARACTERS),
    before: undefined,
    after: undefined,
  });
}
