/**
 * Moves the bytes of pictures, sounds, films and files out of a thread: the backend stores them, and messages keep a
 * reference.
 *
 * Stored bytes do not change when their source file does. If bytes are invalid or cannot be stored, a text says so: the
 * run continues, and no base64 reaches the thread.
 */
import type { BaseMessage, ContentBlock } from "@langchain/core/messages";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { type BackendSource, resolveBackend } from "../../backends/resolve.ts";
import type { Stages, StageTask } from "../../loop/contract/stages.ts";
import type { MediaReference } from "../../loop/request/request-media-block.ts";
import { mediaWords } from "../../loop/request/request-media-words.ts";
import { decodeBase64 } from "../../text/base64.ts";
import { mediaOf } from "../../text/media.ts";
import { isTextType, looksLikeText, mimeTypeOfText, UNKNOWN_BINARY } from "../../text/mime.ts";
import { isMovingPicture, pictureSize } from "../../text/picture-size.ts";
import { prepareAreas } from "../areas.ts";
import { copyMessage } from "../message-copy.ts";
import { type MediaPayload, payloadOf } from "./media-payload.ts";
import { type KeptMedia, keepMedia, loadMedia } from "./media-store.ts";

export interface MediaStagesOptions {
  /** Where the bytes are kept; absent: the state of the thread. */
  readonly backend?: BackendSource | null;
}

export function createMediaStages({ backend }: MediaStagesOptions): Stages {
  return {
    input: (messages, task) => takeMessages(messages, backend, task),
    result: (message, _call, task) => takeMessage(message, backend, task),
    media: async (url, task) => loadMedia(await resolveBackend(backend, task.runtime), url, task.signal),
  };
}

async function takeMessages(
  messages: readonly BaseMessage[],
  backend: BackendSource | null | undefined,
  task: StageTask,
): Promise<readonly BaseMessage[]> {
  const list: BaseMessage[] = [];
  for (const message of messages) list.push(await takeMessage(message, backend, task));
  return list.every((message, index) => message === messages[index]) ? messages : list;
}

/** The message itself where there is nothing to take out. */
async function takeMessage<M extends BaseMessage>(
  message: M,
  backend: BackendSource | null | undefined,
  task: StageTask,
): Promise<M> {
  const { content } = message;
  if (typeof content === "string" || message.type === "ai") return message;
  const payloads = content.map((block) => payloadOf(block));
  if (payloads.every((payload) => payload === undefined)) return message;
  const blocks: ContentBlock[] = [];
  for (const [index, block] of content.entries()) {
    const payload = payloads[index];
    blocks.push(payload ? await takeBlock(block, payload, backend, task) : block);
  }
  return withContent(message, blocks);
}

/** The other form of the content, if the message was made with that one, would hold the data still. */
function withContent<M extends BaseMessage>(message: M, content: ContentBlock[]): M {
  const copy = copyMessage(message, { content, response_metadata: message.response_metadata });
  delete copy.lc_kwargs.contentBlocks;
  return copy;
}

async function takeBlock(
  block: ContentBlock,
  payload: MediaPayload,
  backend: BackendSource | null | undefined,
  task: StageTask,
): Promise<ContentBlock> {
  const bytes = bytesOf(payload.data);
  if (bytes === undefined) return refusal(payload, undefined, "left out, it is not valid base64");
  const known = describe(bytes, payload);
  if (known.problem !== undefined) return refusal(payload, known, known.problem);
  const kept = await keep(backend, task, bytes, known);
  if (kept === undefined) return refusal(payload, known, "left out, it could not be kept");
  return reference(block, payload, known, kept) as unknown as ContentBlock;
}

/** The variant for addresses is taken, too. */
function bytesOf(data: string | Uint8Array): Uint8Array | undefined {
  if (typeof data !== "string") return data;
  const isUrlSafe = data.includes("-") || data.includes("_");
  return decodeBase64(isUrlSafe ? data.replaceAll("-", "+").replaceAll("_", "/") : data);
}

async function keep(
  source: BackendSource | null | undefined,
  task: StageTask,
  bytes: Uint8Array,
  known: Known,
): Promise<KeptMedia | undefined> {
  task.signal?.throwIfAborted();
  try {
    const backend = await resolveBackend(source, task.runtime);
    if (source) await prepareAreas(backend, source, { signal: task.signal });
    return await keepMedia(backend, task, bytes, known);
  } catch (error) {
    if (task.signal?.aborted || (error !== null && isGraphBubbleUp(error))) throw error;
    return undefined;
  }
}

interface Known {
  readonly type: MediaReference["type"];
  readonly mimeType: string;
  readonly filename: string | undefined;
  readonly metadata: Omit<MediaReference["metadata"], "sha">;
  /** Why no model could be shown this. */
  readonly problem?: string;
}

/** The bytes decide the type, because a provider refuses media with a wrong type. */
function describe(bytes: Uint8Array, { mimeType: declared, filename, given }: MediaPayload): Known {
  const media = mediaOf(filename ?? "", bytes);
  const mimeType = media?.mimeType ?? typeOf(bytes, declared, filename);
  const kind = mimeType.slice(0, mimeType.indexOf("/"));
  const type = kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
  const metadata = {
    ...(filename === undefined ? {} : { filename }),
    size: bytes.length,
    ...pictureSize(bytes, mimeType),
    ...(isMovingPicture(bytes, mimeType) ? { animated: true } : {}),
    ...(given === undefined ? {} : { given }),
  };
  const problem = bytes.length === 0 ? "it is empty" : media?.isWhole === false ? "it is damaged" : undefined;
  const isText = isTextType(mimeType);
  return { type: isText ? "file" : type, mimeType, filename, metadata, ...(problem ? { problem } : {}) };
}

const TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/;
/** Types with a sure signature: bytes without the signature are of another type. */
const TELLING = /^(?:image\/(?!svg)|application\/pdf$)/;

function typeOf(bytes: Uint8Array, declared: string | undefined, filename: string | undefined): string {
  const stated = declared?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isStated = TYPE.test(stated) && !TELLING.test(stated);
  if (looksLikeText(bytes)) return isStated && isTextType(stated) ? stated : mimeTypeOfText(filename ?? "");
  return isStated && !isTextType(stated) ? stated : UNKNOWN_BINARY;
}

function reference(
  block: ContentBlock,
  payload: MediaPayload,
  known: Known,
  kept: KeptMedia,
): MediaReference {
  const { type, mimeType } = known;
  const told = block.metadata as object | undefined;
  return {
    ...(payload.given === undefined ? besidesData(block) : {}),
    type,
    mimeType,
    url: kept.url,
    metadata: { ...told, ...known.metadata, sha: kept.sha },
  };
}

/** Data is not even looked at: it may have to be made first. */
function besidesData(block: ContentBlock): Record<string, unknown> {
  const keys = Object.keys(block).filter((key) => key !== "data");
  return Object.fromEntries(keys.map((key) => [key, block[key]]));
}

function refusal(payload: MediaPayload, known: Known | undefined, why: string): ContentBlock {
  const { type = "file" } = known ?? {};
  const mimeType = known?.metadata.size ? known.mimeType : payload.mimeType;
  const metadata = known?.metadata ?? (payload.filename === undefined ? {} : { filename: payload.filename });
  const words = { type, ...(mimeType === undefined ? {} : { mimeType }), metadata };
  return mediaWords(words, why);
}
