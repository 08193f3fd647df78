/**
 * Media that a model of unknown abilities refused.
 *
 * Such a model is sent pictures and PDFs until its provider says no. The kinds it refused are remembered for the
 * client, in this process, and are sent as words from then on.
 */
import type { BaseMessage } from "@langchain/core/messages";
import { DeepwrightError } from "../../errors.ts";
import { failureOf, type JudgedError, type ModelFailure } from "../failures/model-failure.ts";
import { type ChatModel, innermostModel } from "./model-source.ts";

export type MediaKind = "image" | "pdf" | "audio" | "video";

const refused = new WeakMap<ChatModel, ReadonlySet<MediaKind>>();
const NONE: ReadonlySet<MediaKind> = new Set();

export function refusedKinds(model: ChatModel): ReadonlySet<MediaKind> {
  return refused.get(innermostModel(model)) ?? NONE;
}

/** Thrown in place of the provider's error: the request is built anew, and no attempt repeats this one. */
export class MediaRefused extends DeepwrightError implements JudgedError {
  readonly failure: ModelFailure = { kind: "invalid" };

  constructor(kinds: readonly MediaKind[], cause: unknown) {
    const { message } = cause as Error;
    super("MODEL_REFUSED_REQUEST", `The model takes no ${kinds.join(" or ")}: ${message}`, { cause });
    this.name = "MediaRefused";
  }
}

/** Also found where an error was wrapped. */
export function isMediaRefused(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < DEEPEST && current instanceof Error; depth += 1) {
    if (current instanceof MediaRefused) return true;
    current = current.cause;
  }
  return false;
}

/** Remembers the refusal and returns the error to throw; undefined: the error is about something else. */
export function mediaRefusal(
  error: unknown,
  model: ChatModel,
  messages: readonly BaseMessage[],
): MediaRefused | undefined {
  if (!isAboutMedia(error)) return undefined;
  const known = refusedKinds(model);
  const sent = kindsIn(messages).filter((kind) => !known.has(kind));
  if (sent.length === 0) return undefined;
  const words = wordsOf(error);
  const named = sent.filter((kind) => KINDS[kind].test(words));
  const kinds = named.length > 0 ? named : sent;
  refused.set(innermostModel(model), new Set([...known, ...kinds]));
  return new MediaRefused(kinds, error);
}

const KINDS: Readonly<Record<MediaKind, RegExp>> = {
  image: /image|picture|vision/i,
  pdf: /pdf|\bfiles?\b|document/i,
  audio: /audio/i,
  video: /video/i,
};

const MEDIA =
  /image|picture|vision|audio|video|pdf|mmproj|multi-?modal|modalit|media[ _-]?type|content[ _-]?(?:type|part|block)/i;
/** Words that mean media only in an answer about the request. */
const PARTS = /\bmedia\b|\bfiles?\b|document|must be a string|unknown variant|part type/i;
const LACKING = /support|missing|mmproj|cannot|unable/i;

/** Some servers refuse with 404 or 500, and some packages before anything is sent. */
function isAboutMedia(error: unknown): boolean {
  const words = wordsOf(error);
  const { kind } = failureOf(error);
  if (kind === "invalid") return MEDIA.test(words) || PARTS.test(words);
  const mayRefuse = kind === "missing" || kind === "server" || kind === "unknown";
  return mayRefuse && MEDIA.test(words) && LACKING.test(words);
}

const DEEPEST = 6;

function wordsOf(error: unknown): string {
  const words: string[] = [];
  let current = error;
  for (let depth = 0; depth < DEEPEST && typeof current === "object" && current !== null; depth += 1) {
    const { message, cause } = current as { message?: unknown; cause?: unknown };
    if (typeof message === "string") words.push(message.slice(0, 4000));
    current = cause;
  }
  return words.join("\n");
}

/** By the names that blocks have, in the standard form or in that of a provider. */
function kindsIn(messages: readonly BaseMessage[]): readonly MediaKind[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const types = new Set(blocks.map(({ type }) => String(type)).filter((type) => type !== "text"));
  return (Object.keys(KINDS) as MediaKind[]).filter((kind) =>
    [...types].some((type) => KINDS[kind].test(type)),
  );
}
