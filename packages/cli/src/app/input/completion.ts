/** Completion in the editor: commands behind `/`, files behind `@`. */
import { type AutocompleteItem, type AutocompleteProvider, fuzzyFilter } from "@earendil-works/pi-tui";
import { safeLine } from "../../terminal/safe-text.ts";
import type { FileIndex } from "./file-index.ts";

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
}

const MOST = 20;

export function completion(
  commands: () => readonly CompletedCommand[],
  files: FileIndex,
): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const command = cursorLine === 0 ? /^\/(\S*)$/.exec(before) : null;
      if (command) return suggestions(commandItems(commands(), command[1] ?? ""), before);
      const file = /(?:^|\s)(@(\S*))$/.exec(before);
      if (!file) return null;
      const paths = await files.search(file[2] ?? "", MOST);
      return suggestions(
        paths.map((path) => ({ value: `@${path}`, label: safeLine(path, 200) })),
        file[1] ?? "",
      );
    },
    applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
      const line = lines[cursorLine] ?? "";
      const start = cursorCol - prefix.length;
      const text = `${item.value}${item.value.endsWith("/") ? "" : " "}`;
      const next = `${line.slice(0, start)}${text}${line.slice(cursorCol)}`;
      return { lines: lines.with(cursorLine, next), cursorLine, cursorCol: start + text.length };
    },
    shouldTriggerFileCompletion: () => false,
  };
}

function suggestions(items: AutocompleteItem[], prefix: string) {
  return items.length > 0 ? { items, prefix } : null;
}

function commandItems(commands: readonly CompletedCommand[], query: string): AutocompleteItem[] {
  const fitting = query === "" ? [...commands] : fuzzyFilter([...commands], query, ({ name }) => name);
  return fitting.map(({ name, description }) => ({
    value: `/${name}`,
    label: `/${safeLine(name, 40)}`,
    description: safeLine(description, 100),
  }));
}
