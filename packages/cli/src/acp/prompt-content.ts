/** A prompt of an editor as the content of a message: texts, pictures, links and embedded files. Pure. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { Content } from "../app/session/session.ts";

type Block = Record<string, unknown>;

/** `directory` is that of the session: files in it are named as the agent sees them. */
export function promptContent(prompt: readonly ContentBlock[], directory: string): Content {
  const blocks = prompt.map((block) => blockOf(block, directory));
  const isText = blocks.every(({ type }) => type === "text");
  return isText ? blocks.map(({ text }) => text).join("\n") : blocks;
}

/** The words of the person alone, for commands. */
export function promptWords(prompt: readonly ContentBlock[]): string {
  return prompt
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

function blockOf(block: ContentBlock, directory: string): Block {
  if (block.type === "text") return text(block.text);
  if (block.type === "image") return picture(block.mimeType, block.data);
  if (block.type === "resource_link") return text(linkWords(block, directory));
  if (block.type === "resource") return resourceBlock(block.resource, directory);
  throw RequestError.invalidParams(undefined, "prompts with sound are not supported");
}

function linkWords(
  { uri, name, title, description }: Extract<ContentBlock, { type: "resource_link" }>,
  directory: string,
): string {
  const path = agentPath(uri, directory);
  const label = [title ?? name, description].filter(Boolean).join(": ");
  return path === undefined ? `[${label}](${uri})` : `@${path}`;
}

function resourceBlock(
  resource: Extract<ContentBlock, { type: "resource" }>["resource"],
  directory: string,
): Block {
  const { uri, mimeType } = resource;
  const named = agentPath(uri, directory) ?? uri;
  if ("text" in resource) return text(fenced(named, resource.text));
  if (mimeType?.startsWith("image/")) return picture(mimeType, resource.blob);
  if (mimeType === "application/pdf")
    return { type: "file", source_type: "base64", mime_type: mimeType, data: resource.blob };
  throw RequestError.invalidParams(
    { uri },
    `an embedded file of the kind ${mimeType ?? "unknown"} cannot be read`,
  );
}

/** The path of a file below the directory, from `/`; undefined: it is elsewhere, or no file. */
export function agentPath(uri: string, directory: string): string | undefined {
  const path = uri.startsWith("/") ? uri : pathOfUri(uri);
  if (path === undefined) return undefined;
  const inside = relative(directory, path);
  return inside === "" || inside.startsWith("..") ? undefined : `/${inside}`;
}

function pathOfUri(uri: string): string | undefined {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri.replace(/[?#].*$/, "")) : undefined;
  } catch {
    return undefined;
  }
}

/** The fence is longer than any in the text, so that the text ends where it ends. */
export function fenced(label: string, content: string): string {
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${label.replace(/[\n`]/g, " ")}\n${content}${content.endsWith("\n") ? "" : "\n"}${fence}`;
}

function text(words: string): Block {
  return { type: "text", text: words };
}

function picture(type: string, data: string): Block {
  return { type: "image_url", image_url: { url: `data:${type};base64,${data}` } };
}
