/** Files that a message names with `@`: pictures go with it, other files are read by the agent itself. */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, isAbsolute, resolve } from "node:path";
import type { Content } from "../session/session.ts";

const PICTURES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const MOST_BYTES = 5_000_000;

/** A picture that was dropped on the terminal arrives as a pasted path; as text of a message it is named with `@`. */
export function namedPicture(pasted: string): string | undefined {
  const dropped = /^(['"]?)(?:file:\/\/)?(\/[^\n]+?)\1$/.exec(pasted.trim())?.[2]?.replaceAll("\\ ", " ");
  if (dropped === undefined || !isPicture(dropped) || !existsSync(dropped)) return undefined;
  return /\s/.test(dropped) ? `@"${dropped}" ` : `@${dropped} `;
}

function isPicture(path: string): boolean {
  return extname(path).toLowerCase() in PICTURES;
}

/** Paths behind `@`; those with blanks are in quotes. */
export async function withAttachments(
  text: string,
  directory: string,
): Promise<{ readonly content: Content; readonly problems: readonly string[] }> {
  const named = [...(namedPicture(text) ?? text).matchAll(/(?:^|\s)@(?:"([^"\n]+)"|(\S+))/g)].map(
    ([, quoted, path = ""]) => quoted ?? path,
  );
  const paths = named.filter(isPicture);
  const blocks: Record<string, unknown>[] = [];
  const problems: string[] = [];
  for (const path of new Set(paths)) {
    const file = isAbsolute(path) ? path : resolve(directory, path);
    const size = await stat(file).then(
      (found) => (found.isFile() ? found.size : undefined),
      () => undefined,
    );
    if (size === undefined) continue;
    if (size > MOST_BYTES) problems.push(`${path} is larger than 5 MB and was not attached.`);
    else blocks.push(pictureBlock(await readFile(file), PICTURES[extname(path).toLowerCase()] ?? ""));
  }
  if (blocks.length === 0) return { content: text, problems };
  return { content: [{ type: "text", text }, ...blocks], problems };
}

function pictureBlock(bytes: Uint8Array, type: string): Record<string, unknown> {
  return {
    type: "image_url",
    image_url: { url: `data:${type};base64,${Buffer.from(bytes).toString("base64")}` },
  };
}
