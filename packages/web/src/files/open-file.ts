/** The file that the files tab shows. */
import { signal } from "@preact/signals";

export interface OpenedFile {
  /** In the directory of the server, or in the state of the thread. */
  readonly source: "directory" | "thread";
  readonly path: string;
  /** The agent whose directory it is; empty for files of a thread. */
  readonly agent: string;
}

/** Undefined: the tree is shown. */
export const openedFile = signal<OpenedFile | undefined>(undefined);

/** Texts that were edited and not saved, by `draftKey`. They stay while the page is open. */
export const drafts = signal<Readonly<Record<string, string>>>({});

/** Directories may have files of the same path. */
export const draftKey = ({ agent, path }: OpenedFile): string => `${agent}|${path}`;

export function keepDraft(file: OpenedFile, text: string | undefined): void {
  const key = draftKey(file);
  const { [key]: _, ...rest } = drafts.peek();
  drafts.value = text === undefined ? rest : { ...rest, [key]: text };
}

addEventListener("beforeunload", (event) => {
  if (Object.keys(drafts.peek()).length > 0) event.preventDefault();
});
