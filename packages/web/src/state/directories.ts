/** Directories that the agents of the server work in, where there are several. */
import { factsOf } from "../choices/facts.ts";
import { type AssistantItem, assistantOf, assistants } from "./threads.ts";

/** The server's own assistant of the same agent: its facts are those of all assistants of it. */
function ownOf({ graph_id: agent }: AssistantItem): AssistantItem | undefined {
  return assistants.value.find(
    ({ graph_id, metadata }) => graph_id === agent && metadata?.created_by === "system",
  );
}

/** The whole path. Undefined: the server says none, or works in one directory alone. */
export function directoryOf(assistantId: string): string | undefined {
  const assistant = assistants.value.find(({ assistant_id: id }) => id === assistantId);
  return assistant && new Set(known().values()).size > 1 ? known().get(assistant) : undefined;
}

/** By assistant. One that says none is left out. */
function known(): ReadonlyMap<AssistantItem, string> {
  if (assistants.value.length < 2) return new Map();
  return new Map(
    assistants.value.flatMap((one) => {
      const directory = factsOf(ownOf(one)?.assistant_id ?? "")?.directory;
      return directory ? [[one, directory] as const] : [];
    }),
  );
}

/** Whether the agents of the server differ by their directories. */
export const hasDirectories = (): boolean =>
  assistants.value.some(({ assistant_id: id }) => directoryOf(id) !== undefined);

/** The end of the path that no other directory has, such as `shop` or `2024/shop`. */
export function shortName(directory: string): string {
  const all = [...new Set(known().values())].map((one) => one.split(/[/\\]/));
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
