/** The hash that names an object, and proves that it is unchanged. */
import { hash } from "node:crypto";

const HASH_DIGITS = 40;

/** The hash has 160 bits: two contents with one hash cannot be made. */
export function contentHash(
  kind: number,
  refs: readonly { readonly hash: string }[],
  body: string | Uint8Array,
): string {
  let head = `${kind}:`;
  for (const ref of refs) head += ref.hash;
  return shortHash(
    typeof body === "string" ? `${head};${body}` : Buffer.concat([Buffer.from(`${head},`), body]),
  );
}

export function shortHash(content: string | Uint8Array): string {
  return hash("sha256", content, "hex").slice(0, HASH_DIGITS);
}
