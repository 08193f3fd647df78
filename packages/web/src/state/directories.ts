/** Directories that the agents of the server work in, where there are several. */
import { computed } from "@preact/signals";
import { factsOf } from "../choices/facts.ts";
import { type AssistantItem, assistantOf, assistants } from "./threads.ts";

/** The server's own assistant of the same agent: its facts are those of all assistants of it. */
function ownOf({ graph_id: agent }: AssistantItem): AssistantItem | undefined {
  return assistants.value.find(
    ({ graph_id, metadata }) => graph_id === agent && metadata?.created_by === "system",
  );
}

/** By id of the assistant. Empty: the agents say none, or all work in the same one. */
const known = computed<ReadonlyMap<string, string>>(() => {
  if (assistants.value.length < 2) return new Map();
  const found = assistants.value.flatMap((one) => {
    const directory = factsOf(ownOf(one)?.assistant_id ?? "")?.directory;
    return directory ? [[one.assistant_id, directory] as const] : [];
  });
  return new Map(new Set(found.map(([, directory]) => directory)).size > 1 ? found : []);
});

/** The whole path. Undefined: the agent says none, or the server works in one directory alone. */
export const directoryOf = (assistantId: string): string | undefined => known.value.get(assistantId);

/** Whether the agents of the server differ by their directories. */
export const hasDirectories = (): boolean => known.value.size > 0;

/** The end of the path that no other directory has, such as `shop` or `2024/shop`. */
export function shortName(directory: string): string {
  const all = [...new Set(known.value.values())].map((one) => one.split(/[/\\]/));
  const parts = directory.split(/[/\\]/);
  for (let length = 1; length < parts.length; length += 1) {
    const end = parts.slice(-length).join("/");
    if (all.filter((other) => other.slice(-length).join("/") === end).length < 2) return end;
  }
  return directory;
}

/** A short name for lists. Undefined: the server works in one directory. */
export function placeOfThread(threadId: string): string | undefined {
  const directory = directoryOf(assistantOf(threadId));
  return directory === undefined ? undefined : shortName(directory);
}
