/** Checks the content of a client's message: text, or blocks of known kinds with the fields they need. */
import { isRecord } from "deepwright/check-options";
import { ServiceError } from "../service-error.ts";

/** Roles a client may speak for: people, and the assistant where it is quoted. */
export type Speaker = "human" | "ai";

const TEXTS = ["text", "text-plain", "input_text"];
const MEDIA = [
  ...["image", "audio", "video", "file", "media", "document", "search_result"],
  ...["image_url", "video_url", "audio_url", "input_image", "input_audio", "input_file"],
];

/** Block types of people, and of models. */
const KINDS: Readonly<Record<Speaker, ReadonlySet<string>>> = {
  human: new Set([...TEXTS, ...MEDIA]),
  ai: new Set([...TEXTS, ...MEDIA, "output_text", "refusal", "reasoning", "thinking", "redacted_thinking"]),
};

/** Fields that hold the thing itself or say where it is, in the ways LangChain and providers write them. */
const CARRIERS = [
  ...["text", "data", "url", "id", "fileId", "file_id", "fileUri", "source", "content"],
  ...["image_url", "video_url", "audio_url", "input_audio", "file", "file_data", "file_url"],
];
/** Further keys that packages of providers read as text without a check. */
const TEXT_FIELDS = ["text", "url", "id", "fileId", "file_id", "mimeType", "mime_type", "source_type"];

/** Throws INVALID_REQUEST: with other content, or with none, no later run of the thread could ask its model. */
export function checkContent(content: unknown, speaker: Speaker, where: string): void {
  if (typeof content !== "string" && !Array.isArray(content))
    throw refusal(where, "must be text or a list of content blocks.");
  if (isBlank(content)) throw refusal(where, "is blank: it must say something.");
  if (typeof content === "string") return;
  content.forEach((block, index) => {
    checkBlock(block, speaker, `${where}.${index}`);
  });
}

function isBlank(content: string | readonly unknown[]): boolean {
  return typeof content === "string" ? !/\S/.test(content) : content.length === 0;
}

function checkBlock(block: unknown, speaker: Speaker, where: string): void {
  const { type } = isRecord(block) ? block : {};
  if (!isRecord(block) || typeof type !== "string")
    throw refusal(where, 'must be a content block such as {type: "text", text: "…"}.');
  if (!KINDS[speaker].has(type))
    throw refusal(where, `blocks of this type are not taken; ${[...KINDS[speaker]].join(", ")} are.`);
  const odd = TEXT_FIELDS.find((key) => block[key] != null && typeof block[key] !== "string");
  if (odd !== undefined) throw refusal(where, `${odd} must be text.`);
  if (/^(?:text|input_text|output_text)$/.test(type) && typeof block.text !== "string")
    throw refusal(where, "text must be there.");
  if (typeof block.text === "string" && isBlank(block.text))
    throw refusal(where, "is blank: it must say something.");
  if (!MEDIA.includes(type)) return;
  const carrier = CARRIERS.find((key) => block[key] != null);
  if (carrier === undefined) throw refusal(where, "holds nothing: it needs data, a url or an id.");
  checkCarriers(block, where);
}

/** Text, or an object of LangChain or a provider; `content` belongs to a document. */
function checkCarriers(block: Record<string, unknown>, where: string): void {
  for (const key of CARRIERS) {
    const value = block[key] ?? undefined;
    if (value === undefined || typeof value === "string") continue;
    if (key === "content" ? !Array.isArray(value) : !isRecord(value))
      throw refusal(where, `${key} must be text or an object.`);
    if (/_url$/.test(key) && typeof (value as { url?: unknown }).url !== "string")
      throw refusal(where, `${key}.url must be text.`);
  }
}

function refusal(where: string, words: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `${where}: ${words}`);
}
