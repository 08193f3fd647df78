/** Turns the answer of a server's tool into content for models: texts, and media in LangChain's standard form. */

type Block = Readonly<Record<string, unknown>>;

/** A text where that is all there is. */
export type ShownContent = string | Block[];

/** `blocks` as LangChain's adapter makes them. Links are shown and never followed. */
export function shownContent(blocks: string | readonly Block[]): ShownContent {
  if (typeof blocks === "string") return blocks;
  const shown = blocks.map(shownBlock);
  if (shown.every((block) => block.type === "text")) return shown.map(({ text }) => String(text)).join("\n");
  return shown;
}

function shownBlock(block: Block): Block {
  const { type, source_type: source } = block;
  if (type === "text") return { type, text: String(block.text) };
  const mimeType = String(block.mime_type ?? block.mimeType ?? "");
  const { uri } = (block.metadata ?? {}) as { uri?: unknown };
  const name = uri === undefined ? "" : ` ${String(uri)}`;
  if (source === "text") return { type: "text", text: `[resource${name}]\n${String(block.text)}` };
  if (source === "url")
    return { type: "text", text: `[link to ${String(block.url)} ${mimeType}]`.replace(" ]", "]") };
  const data = block.data;
  if (typeof data !== "string") return { type: "text", text: `[${String(type)} that cannot be shown]` };
  const kind = type === "file" ? kindOf(mimeType) : type;
  if (kind === undefined)
    return { type: "text", text: `[resource${name}: ${mimeType || "unknown type"}, ${sizeOf(data)}]` };
  return { type: kind, mimeType, data, ...(uri !== undefined && { metadata: { filename: String(uri) } }) };
}

/** Undefined for media that no model takes. */
function kindOf(mimeType: string): string | undefined {
  const [, kind] = /^(image|audio|video)\//.exec(mimeType) ?? [];
  return kind ?? (mimeType === "application/pdf" ? "file" : undefined);
}

const sizeOf = (base64: string): string => `${Math.floor((base64.length * 3) / 4)} bytes`;
