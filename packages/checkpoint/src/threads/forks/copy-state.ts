/** A copy of a directory as it would be without some of a thread's changes. The directory itself is only read. */
import type { StoredImage } from "../../saver/file-image.ts";
import { DISK } from "../images.ts";
import { type FilesReport, restoreFiles } from "../undo/restore-files.ts";
import { type Link, timelines } from "../undo/timeline.ts";

export interface CopyState {
  readonly images: readonly StoredImage[];
  /** Real paths: of the directory that was copied, and of its copy. */
  readonly root: string;
  readonly copy: string;
  readonly undone: (link: Link) => boolean;
}

/** Changes of people stay. A text that both changed is merged, as in a restore. */
export function takeBackIn({ images, root, copy, undone }: CopyState): Promise<FilesReport> {
  const files = timelines(images)
    .filter(({ place }) => place === DISK + root)
    .map((file) => ({ ...file, place: DISK + copy }));
  const record = async (): Promise<void> => {};
  return restoreFiles({ files, choice: { undone, redone: () => false }, roots: new Set([copy]), record });
}
