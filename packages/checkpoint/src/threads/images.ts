/** Files outside the state as they were before a step changed them, kept with the thread. */
import { Decoder } from "../content/decode.ts";
import { CLAIM_KEY, type ThreadClaim } from "../saver/claim.ts";
import type { FileContent, FileImage } from "../saver/file-image.ts";
import { checkedId } from "../saver/ids.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import type { ThreadStorage } from "../storage/storage.ts";

export type { FileImage };

/** Begins a place that stands for a command that was run there, with the command as its path. */
export const COMMAND = "command:";
/** Begins a place where files changed whose contents were too large to be kept. */
export const LARGE = "large:";

export interface StoredImage {
  readonly checkpointId: string;
  readonly place: string;
  readonly path: string;
  /** Grows in the order in which images were recorded. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  before(): Promise<FileContent>;
  after(): Promise<FileContent>;
}

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
export async function listImages(saver: SharedSaver, threadId: string): Promise<StoredImage[]> {
  const { storage } = saver;
  const rows = await storage.listImages(checkedId("thread_id", threadId));
  return rows.map(({ before, after, ...row }) => ({
    ...row,
    before: () => contentAt(storage, before),
    after: () => contentAt(storage, after),
  }));
}

async function contentAt(storage: ThreadStorage, id: number | undefined): Promise<FileContent> {
  if (id === undefined) return undefined;
  const decoder = new Decoder();
  decoder.add(await storage.loadObjects([id]));
  return decoder.value(id) as FileContent;
}
