/** The file that the files tab shows. */
import { signal } from "@preact/signals";

export interface OpenedFile {
  /** In the directory of the server, or in the state of the thread. */
  readonly source: "directory" | "thread";
  readonly path: string;
}

/** Undefined: the tree is shown. */
export const openedFile = signal<OpenedFile | undefined>(undefined);

/** Texts that were edited and not saved, by path. They stay while the page is open. */
export const drafts = signal<Readonly<Record<string, string>>>({});

export function keepDraft(path: string, text: string | undefined): void {
  const { [path]: _, ...rest } = drafts.peek();
  drafts.value = text === undefined ? rest : { ...rest, [path]: text };
}

addEventListener("beforeunload", (event) => {
  if (Object.keys(drafts.peek()).length > 0) event.preventDefault();
});
