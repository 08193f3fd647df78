/** Files outside the state as they were before a step changed them, kept with the thread. */
import { CLAIM_KEY, type ThreadClaim } from "../saver/claim.ts";
import type { FileImage, StoredImage } from "../saver/file-image.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";

export type { FileImage, StoredImage };

/** Begins a place that stands for a command that was run there, with the command as its path. */
export const COMMAND = "command:";
/** Begins a place where files changed whose contents were too large to be kept. */
export const LARGE = "large:";
/** Begins a place where several entries changed at once; the path is a JSON list of theirs. */
export const TREE = "tree:";
/** Begin places that hold no change of a file. */
export const NOTES: readonly string[] = [COMMAND, "walked:", "base:", "fork:"];
/** Begins a place that names the directory a finished fork was made of; the path is that of the copy. */
export const FORK = "fork:";
/** Begins a place with the content of single files. */
export const DISK = "disk:";

/** Contents that are stored already cost nothing. Goes with the thread, and with what `prune` finds too old. */
export async function recordImage(
  saver: SharedSaver,
  threadId: string,
  image: FileImage,
  options: { readonly claim?: ThreadClaim } = {},
): Promise<void> {
  await saver.recordImage({ configurable: { thread_id: threadId, [CLAIM_KEY]: options.claim } }, image);
}

/** In the order they were recorded. Contents are read when asked for. */
export function listImages(saver: SharedSaver, threadId: string): Promise<StoredImage[]> {
  return saver.imagesOf(threadId);
}

/** Empty for what is no list: stored text may come from elsewhere. */
export function pathsInSet(path: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(path);
    return Array.isArray(paths) ? paths.filter((one) => typeof one === "string") : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
