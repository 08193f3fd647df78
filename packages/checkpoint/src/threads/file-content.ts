/** The content of a file in the state, whatever form it is stored in. */

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|x-ndjson|x-sh|sql)$|.*\+(?:json|xml|yaml)$)/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Text, or the bytes of what is not text. Older data is a list of lines. `undefined` for what is no file. */
export function fileContent(file: unknown): string | Uint8Array | undefined {
  if (typeof file !== "object" || file === null) return undefined;
  const { content, mimeType } = file as { content?: unknown; mimeType?: unknown };
  if (Array.isArray(content)) return content.join("\n");
  if (content instanceof Uint8Array) return content;
  if (typeof content !== "string") return undefined;
  const isText = typeof mimeType !== "string" || TEXT_TYPES.test(mimeType.split(";")[0]?.trim() ?? "");
  return isText ? content : (bytesOf(content) ?? content);
}

/** `undefined` for what claims to be base64 and is not. */
function bytesOf(text: string): Uint8Array | undefined {
  return text.length % 4 === 0 && BASE64.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}

export function sameContent(
  left: string | Uint8Array | undefined,
  right: string | Uint8Array | undefined,
): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right) === 0;
  return left === right;
}
