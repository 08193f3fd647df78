/** Files that a message names with `@`: pictures go with it, other files are read by the agent itself. */
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

/** A path behind `@`, or the whole message when a picture was dropped on the terminal. */
export async function withAttachments(
  text: string,
  directory: string,
): Promise<{ readonly content: Content; readonly problems: readonly string[] }> {
  const named = [...text.matchAll(/(?:^|\s)@(\S+)/g)].map(([, path = ""]) => path);
  const dropped = /^(['"]?)(?:file:\/\/)?(\/[^\n]+?)\1$/.exec(text.trim())?.[2];
  const paths = [...named, ...(dropped ? [dropped.replaceAll("\\ ", " ")] : [])].filter(
    (path) => extname(path).toLowerCase() in PICTURES,
  );
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
