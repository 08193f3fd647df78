/** Adopts a fork: its changes are made in the directory. */
import type { RestoreResult, SharedSaver } from "@deepwright/checkpoint";
import { idWord, rewindLines, shellWord } from "../threads/lines.ts";

/** Lines about the changes that an adoption would make. */
export async function adoptionLines(
  saver: SharedSaver,
  threadId: string,
  directory: string,
): Promise<readonly string[]> {
  const { adoptFork } = await import("@deepwright/checkpoint");
  const plan = await adoptFork(saver, threadId, { root: directory, dryRun: true });
  return ["Files would change:", ...rewindLines(plan)];
}

export interface Adoption {
  readonly result: RestoreResult;
  readonly lines: readonly string[];
}

/** `named` is the directory as the person gave it; absent: the current one. */
export async function adopted(
  saver: SharedSaver,
  threadId: string,
  directory: string,
  named?: string,
): Promise<Adoption> {
  const { adoptFork } = await import("@deepwright/checkpoint");
  const result = await adoptFork(saver, threadId, { root: directory });
  const where = named === undefined ? "" : ` --in ${shellWord(named)}`;
  const undo = `Undo: deepwright threads restore ${idWord(threadId)} --call ${result.call}${where}`;
  const lines = ["Adopted:", ...rewindLines(result), ...(result.call === undefined ? [] : [undo])];
  return { result, lines };
}
