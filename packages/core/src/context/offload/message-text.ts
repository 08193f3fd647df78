/** The text of a message, without its other content. */
import type { BaseMessage } from "@langchain/core/messages";

type Content = BaseMessage["content"];
type Block = Exclude<Content, string>[number];

/** Text blocks on lines of their own; pictures and the like are no text. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  const texts = content.filter(isText).map((block) => block.text);
  return texts.length === 1 ? (texts[0] as string) : texts.join("\n");
}

/** The content with another text in place of the first one. Other blocks stay. */
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
