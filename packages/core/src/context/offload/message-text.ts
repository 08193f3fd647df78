/** The text of a message, apart from what else it holds. */
import type { BaseMessage } from "@langchain/core/messages";

type Content = BaseMessage["content"];
type Block = Exclude<Content, string>[number];

/** Text blocks on lines of their own; pictures and the like are no text. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  const texts = content.filter(isText).map((block) => block.text);
  return texts.length === 1 ? (texts[0] as string) : texts.join("\n");
}

/** The content with other words: in the place of the first text, and all else as it was. */
export function withText(content: Content, text: string): Content {
  if (typeof content === "string") return text;
  const first = content.findIndex(isText);
  if (first < 0) return content;
  return content.flatMap((block, index): Block[] => {
    if (!isText(block)) return [block];
    return index === first ? [{ ...block, text } as Block] : [];
  });
}

function isText(block: Block): block is Block & { type: "text"; text: string } {
  return block?.type === "text" && typeof (block as { text?: unknown }).text === "string";
}
