/** Search over threads: title matches at once, then matches in messages from the server. */
import { computed, effect, signal } from "@preact/signals";
import { findThreads, type ThreadItem, threads, titleOf } from "./threads.ts";

/** Pause in typing before the server is asked. */
const PAUSE_MS = 250;
/** Characters of a search. */
const MOST_TEXT = 200;

export const searchText = signal("");
/** Threads that the server found last, with the text that it searched for. */
const answer = signal<{ readonly text: string; readonly found: readonly ThreadItem[] }>({
  text: "",
  found: [],
});

const wanted = computed(() => searchText.value.trim().slice(0, MOST_TEXT));

/** All matches. Undefined: no title matches, and the server has not answered yet. */
export const searched = computed<readonly ThreadItem[] | undefined>(() => {
  const text = wanted.value;
  const byTitle = threads.value.filter((thread) =>
    titleOf(thread)?.toLowerCase().includes(text.toLowerCase()),
  );
  const isAnswered = answer.value.text === text;
  const known = new Set(byTitle.map(({ thread_id: id }) => id));
  const byText = isAnswered ? answer.value.found.filter(({ thread_id: id }) => !known.has(id)) : [];
  const all = [...byTitle, ...byText];
  return all.length === 0 && !isAnswered ? undefined : all;
});

export function searchFor(text: string): void {
  searchText.value = text;
}

/** Asks the server after a pause in typing. If it fails, the title matches remain. */
effect(() => {
  const text = wanted.value;
  if (text === "") return;
  const asking = setTimeout(async () => {
    const found = await findThreads(text).catch(() => []);
    if (wanted.peek() === text) answer.value = { text, found };
  }, PAUSE_MS);
  return () => clearTimeout(asking);
});
