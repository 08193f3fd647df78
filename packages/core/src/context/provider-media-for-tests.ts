/** What the providers say to the pictures, sounds, films and files of a request. */
import { mediaOf } from "../text/media.ts";
import type { Api } from "./provider-server-read-for-tests.ts";

export interface SeenMedia {
  readonly mimeType: string;
  /** Base64, or a link. */
  readonly data: string;
}

export interface MediaVerdict {
  /** Undefined: the request is taken. */
  readonly refusal: string | undefined;
  readonly media: readonly SeenMedia[];
}

/** `takesMedia` false: a model that reads text only. */
export function judgeMedia(api: Api, body: any, takesMedia = true): MediaVerdict {
  const text = JSON.stringify(body);
  if (text.length > 32 * 1024 * 1024) return { refusal: "413 request_too_large", media: [] };
  const media: SeenMedia[] = [];
  const refusals: string[] = [];
  if (text.includes("backend:/")) refusals.push("a reference was sent");
  READERS[api](body, media, refusals);
  for (const one of media) {
    if (!takesMedia) refusals.push(`this model does not support ${one.mimeType}`);
    refusals.push(...refusalsOf(api, one));
  }
  return { refusal: refusals[0], media };
}

const TYPES: Readonly<Record<Api, RegExp>> = {
  anthropic: /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/,
  chat: /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/,
  responses: /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/,
  gemini:
    /^(?:image\/(?:png|jpeg|webp|heic|heif)|application\/pdf|audio\/(?:wav|mp3|aiff|aac|ogg|flac)|video\/mp4)$/,
};

function refusalsOf(api: Api, { mimeType, data }: SeenMedia): string[] {
  if (/^https?:/.test(data)) return [];
  if (!TYPES[api].test(mimeType)) return [`Unsupported MIME type: ${mimeType}`];
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return ["Invalid base64 data"];
  const bytes = new Uint8Array(Buffer.from(data, "base64"));
  const real = mediaOf("", bytes);
  const isNamedRight = real?.mimeType === (mimeType === "audio/mp3" ? "audio/mpeg" : mimeType);
  if (!isNamedRight) return [`The data was specified as ${mimeType} but appears to be ${real?.mimeType}`];
  if (!real.isWhole) return ["Could not process image"];
  if (api === "anthropic" && mimeType.startsWith("image/") && data.length > 5 * 1024 * 1024)
    return [`image exceeds 5 MB maximum: ${data.length} bytes`];
  const isMoving = mimeType === "image/gif" && Buffer.from(bytes).includes("NETSCAPE2.0");
  return isMoving && api !== "anthropic" ? ["animated pictures are not supported"] : [];
}

type Reader = (body: any, media: SeenMedia[], refusals: string[]) => void;

const READERS: Readonly<Record<Api, Reader>> = {
  anthropic: (body, media, refusals) => {
    const read = (block: any): void => {
      if (block.type === "tool_result" && Array.isArray(block.content)) block.content.forEach(read);
      else if (block.type === "image" || block.type === "document") {
        const { source } = block;
        if (source?.type === "base64") media.push({ mimeType: source.media_type, data: source.data });
        else if (source?.type === "url") media.push({ mimeType: "", data: source.url });
        else if (source?.type !== "text") refusals.push(`${block.type}: source is required`);
      } else if (!["text", "tool_use", "tool_result"].includes(block.type))
        refusals.push(`Input tag '${block.type}' found`);
    };
    for (const { content } of body.messages) if (Array.isArray(content)) content.forEach(read);
  },
  chat: (body, media, refusals) => {
    for (const { role, content } of body.messages)
      for (const part of Array.isArray(content) ? content : []) {
        if (part.type === "text") continue;
        if (role !== "user") refusals.push(`${part.type} is only allowed for messages with role 'user'`);
        if (part.type === "image_url") media.push(fromUrl(part.image_url?.url));
        else if (part.type === "file") media.push(fileOf(part.file, refusals));
        else refusals.push(`Invalid value: '${part.type}'`);
      }
  },
  responses: (body, media, refusals) => {
    for (const item of body.input) {
      if (item.type === "function_call_output" && /"data":"/.test(JSON.stringify(item.output)))
        refusals.push("data written out in a function call output");
      for (const part of Array.isArray(item.content) ? item.content : []) {
        if (part.type === "input_image") media.push(fromUrl(part.image_url));
        else if (part.type === "input_file") media.push(fileOf(part, refusals));
        else if (!/^(?:input|output)_text$/.test(part.type)) refusals.push(`Invalid value: '${part.type}'`);
      }
    }
  },
  gemini: (body, media, refusals) => {
    for (const { parts } of body.contents)
      for (const part of parts) {
        if (part.inlineData) media.push(part.inlineData);
        if (part.fileData) media.push({ mimeType: part.fileData.mimeType, data: part.fileData.fileUri });
        if (part.functionResponse && JSON.stringify(part.functionResponse).includes("inlineData"))
          refusals.push("inlineData in a function response");
      }
    const total = media.reduce((sum, { data }) => sum + data.length, 0);
    if (total > 20 * 1024 * 1024) refusals.push("Request payload size exceeds the limit: 20971520 bytes.");
  },
};

function fileOf(part: any, refusals: string[]): SeenMedia {
  if (!part?.filename) refusals.push("Missing required parameter: filename");
  return fromUrl(part?.file_data);
}

function fromUrl(url: unknown): SeenMedia {
  const [, mimeType = "", data = ""] = /^data:([^;,]*);base64,(.*)$/.exec(String(url)) ?? [];
  return data === "" ? { mimeType: "", data: String(url) } : { mimeType, data };
}
