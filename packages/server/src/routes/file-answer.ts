/** A file as an answer. */
import { HeldAnswer } from "../http/held-answer.ts";

/** Never shown in the server's own origin: what an agent wrote may be a page with a script. */
export function fileAnswer(
  path: string,
  content: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): HeldAnswer {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return new HeldAnswer(content, {
    "content-type": typeof content === "string" ? "text/plain; charset=utf-8" : "application/octet-stream",
    "content-disposition": `attachment; filename*=UTF-8''${encoded(name)}`,
    "content-security-policy": "sandbox; default-src 'none'",
    ...headers,
  });
}

function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
