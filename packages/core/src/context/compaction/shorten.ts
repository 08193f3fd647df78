/**
 * Shorter forms of messages for requests: old arguments of file tools, and long texts of a tail that would not fit.
 *
 * The thread keeps the original. A short form depends only on the message and the settings and is cached, so that it is
 * sent the same way every time.
 */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { withArguments } from "../../loop/messages/reply.ts";
import { copyMessage } from "../message-copy.ts";

export interface ArgumentLimit {
  /** Characters an argument may have. */
  readonly maxLength: number;
  /** Text in place of the removed rest; default: the number of removed characters. */
  readonly truncationText?: string;
}

/** Tools whose arguments repeat the content of a file. */
const FILE_WRITERS = new Set(["write_file", "edit_file"]);
const SHOWN = 40;

type Arguments = Record<string, unknown>;

interface Kept {
  readonly content: BaseMessage["content"];
  readonly calls: unknown;
  readonly key: string;
  readonly message: BaseMessage;
}

const shortened = new WeakMap<BaseMessage, Kept>();

/** The same message when it has no argument to shorten. */
export function shortenArguments(message: BaseMessage, limit: ArgumentLimit): BaseMessage {
  if (!AIMessage.isInstance(message) || (message.tool_calls ?? []).length === 0) return message;
  return kept(shortened, message, JSON.stringify(limit), () => withShortArguments(message, limit));
}

function kept(
  memory: WeakMap<BaseMessage, Kept>,
  message: BaseMessage,
  key: string,
  make: () => BaseMessage,
): BaseMessage {
  const { content } = message;
  const calls = (message as AIMessage).tool_calls;
  const known = memory.get(message);
  if (known?.key === key && known.content === content && known.calls === calls) return known.message;
  const made = make();
  memory.set(message, { content, calls, key, message: made });
  return made;
}

function withShortArguments(message: AIMessage, limit: ArgumentLimit): AIMessage {
  const changed = new Map<string, Arguments>();
  for (const { id, name, args } of message.tool_calls ?? []) {
    if (!FILE_WRITERS.has(name) || id === undefined) continue;
    const short = shortArguments(args as Arguments, limit);
    if (short !== undefined) changed.set(id, short);
  }
  return changed.size === 0 ? message : withRawArguments(message, changed);
}

function shortArguments(args: Arguments, limit: ArgumentLimit): Arguments | undefined {
  const long = Object.entries(args).filter(
    ([, value]) => typeof value === "string" && value.length > limit.maxLength,
  ) as [string, string][];
  if (long.length === 0) return undefined;
  const short = long.map(([key, value]) => [key, shortArgument(value, limit)] as const);
  return { ...args, ...Object.fromEntries(short) };
}

function shortArgument(value: string, { truncationText, maxLength }: ArgumentLimit): string {
  const head = headOf(value, Math.min(SHOWN, maxLength));
  return `${head}${truncationText ?? `… [${value.length - head.length} more characters were written]`}`;
}

interface RawCall {
  readonly id?: string;
  readonly call_id?: string;
  readonly function?: object;
}

/** Some clients send the raw reply of the provider again, which has the arguments once more. */
function withRawArguments(message: AIMessage, changed: ReadonlyMap<string, Arguments>): AIMessage {
  const edited = withArguments(message, changed);
  const { additional_kwargs, response_metadata } = message;
  const raw = (list: readonly RawCall[]): unknown[] => list.map((call) => withRawText(call, changed));
  const { tool_calls: calls } = additional_kwargs as { tool_calls?: unknown };
  const { output } = (response_metadata ?? {}) as { output?: unknown };
  if (!Array.isArray(calls) && !Array.isArray(output)) return edited;
  return copyMessage(edited, {
    ...(Array.isArray(calls) && { additional_kwargs: { ...additional_kwargs, tool_calls: raw(calls) } }),
    ...(Array.isArray(output) && { response_metadata: { ...response_metadata, output: raw(output) } }),
  });
}

function withRawText(call: RawCall, changed: ReadonlyMap<string, Arguments>): RawCall {
  const args = changed.get(call?.call_id ?? call?.id ?? "");
  if (args === undefined) return call;
  const text = { arguments: JSON.stringify(args) };
  return call.function ? { ...call, function: { ...call.function, ...text } } : { ...call, ...text };
}

/** How a message of the kept tail is sent that is too long for it. */
export interface Clip {
  /** Characters of text that are left. */
  readonly characters: number;
  /** Pictures and the like are left out. */
  readonly withoutMedia?: boolean;
  /** Where the whole text is. */
  readonly path?: string;
}

const clipped = new WeakMap<BaseMessage, Kept>();

export function clipMessage(message: BaseMessage, clip: Clip): BaseMessage {
  return kept(clipped, message, JSON.stringify(clip), () => withClippedText(message, clip));
}

function withClippedText(message: BaseMessage, clip: Clip): BaseMessage {
  const content = clippedContent(message.content, clip);
  return content === message.content ? message : copyMessage(message, { content });
}

function clippedContent(content: BaseMessage["content"], clip: Clip): BaseMessage["content"] {
  if (typeof content === "string") return clipText(content, clip.characters, clip.path);
  const texts = content.filter(isText).reduce((sum, block) => sum + String(block.text).length, 0);
  const share = texts > clip.characters ? clip.characters / texts : 1;
  return content.map((block) => {
    if (isText(block)) {
      const characters = Math.floor(String(block.text).length * share);
      return { ...block, text: clipText(String(block.text), characters, clip.path) };
    }
    return clip.withoutMedia && isMedia(block) ? { type: "text", text: mediaWords(block) } : block;
  }) as BaseMessage["content"];
}

type Block = Record<string, unknown> & { readonly type?: string };

function isText(block: unknown): block is { type: "text"; text: string } {
  return (block as Block).type === "text" && typeof (block as Block).text === "string";
}

const MEDIA = new Set(["image", "image_url", "audio", "input_audio", "video", "file", "document"]);

export function isMedia(block: unknown): boolean {
  return MEDIA.has((block as Block).type ?? "");
}

/** `[image/png /where/it/is.png]`: never the bytes. */
export function mediaWords(block: unknown): string {
  const { type = "media", url, image_url: inner, mimeType, mime_type, data, source } = block as Block;
  const address = [url, typeof inner === "object" ? (inner as Block | null)?.url : inner].find(
    (value) => typeof value === "string",
  ) as string | undefined;
  const kind = mimeType ?? mime_type ?? (source as Block | undefined)?.media_type ?? typeIn(address) ?? type;
  if (address !== undefined && !address.startsWith("data:")) return `[${kind} ${address}]`;
  const bytes = typeof data === "string" ? `, about ${Math.ceil((data.length * 3) / 4)} bytes` : "";
  return `[${kind}${bytes}]`;
}

function typeIn(address: string | undefined): string | undefined {
  return /^data:([\w.+-]+\/[\w.+-]+)/.exec(address ?? "")?.[1];
}

const TAIL_SHARE = 0.3;

/** Head and tail of a text; the words between them are not counted. */
export function clipText(text: string, characters: number, path?: string): string {
  const where = path === undefined ? "" : `; the whole text is in ${path}`;
  return clipMiddle(text, characters, (count) => `[… ${count} characters left out${where} …]`);
}

/** Head and tail of a text, with words of the caller's between them. */
export function clipMiddle(text: string, characters: number, gap: (count: number) => string): string {
  if (text.length <= characters) return text;
  const tail = Math.floor(characters * TAIL_SHARE);
  const head = headOf(text, characters - tail);
  const end = tail > 0 ? tailOf(text, tail) : "";
  return `${head}\n${gap(text.length - head.length - end.length)}\n${end}`;
}

function headOf(text: string, length: number): string {
  const end = isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length;
  return text.slice(0, Math.max(0, end));
}

function tailOf(text: string, length: number): string {
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
