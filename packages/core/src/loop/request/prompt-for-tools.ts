/** The system prompt without the sections about tools a middleware took away. */
import { SystemMessage } from "@langchain/core/messages";

type Block = { readonly type?: string; readonly text?: unknown };

/**
 * `whole` is the prompt for all tools, `narrow` the one for those that are left, `changed` what the
 * middleware made of `whole`. What it added behind is kept; a prompt it rewrote is left as it is.
 */
export function promptForTools(
  whole: SystemMessage,
  narrow: SystemMessage,
  changed: SystemMessage,
): SystemMessage {
  if (changed === whole) return narrow;
  if (typeof whole.content === "string" && typeof changed.content === "string") {
    if (whole.content === "" || !changed.content.startsWith(whole.content)) return changed;
    return new SystemMessage(narrow.text + changed.content.slice(whole.content.length));
  }
  const before = blocksOf(whole);
  const now = blocksOf(changed);
  if (before.length === 0 || !before.every((block, i) => sameBlock(block, now[i]))) return changed;
  return new SystemMessage({ content: [...blocksOf(narrow), ...now.slice(before.length)] as never });
}

function blocksOf({ content }: SystemMessage): readonly Block[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

function sameBlock(a: Block, b: Block | undefined): boolean {
  return a === b || (b !== undefined && a.type === b.type && a.text === b.text);
}
