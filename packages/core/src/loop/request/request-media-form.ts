/** Pictures, sounds, films and PDFs that a model accepts, and where in a request. */

import { ownValue } from "../../text/own-value.ts";
import { type ChatModel, innermostModel } from "../providers/model-source.ts";
import { type MediaKind as Kind, refusedKinds } from "../providers/refused-media.ts";
import type { MediaBlock } from "./request-media-block.ts";

/** Where media of a tool result go; absent: the model cannot take them. */
export type MediaPlacement = "inside" | "behind" | undefined;
export type Provider = "anthropic" | "openai" | "google";

export interface MediaForm {
  /** Tells forms apart; equal keys mean equal forms. */
  readonly key: string;
  /** Absent: a provider nobody here knows. */
  readonly provider: Provider | undefined;
  readonly places: Readonly<Record<Kind, MediaPlacement>>;
  /** Whether a person knows better than we do what the model takes. */
  readonly trustsPeople: boolean;
  /** Whether the package of the provider knows pictures as `image_url` blocks only. */
  readonly takesImageUrls: boolean;
  /** Kinds the provider of a model that nobody knows has refused. */
  readonly refused: ReadonlySet<Kind>;
  readonly limits: MediaLimits;
}

export interface MediaLimits {
  readonly types: Readonly<Record<Kind, RegExp>>;
  /** Bytes of one of a kind. */
  readonly bytes: Readonly<Record<Kind, number>>;
  /** Bytes of all media of a request. */
  readonly total: number;
  /** Media of a request. */
  readonly count: number;
  /** Pixels of the longer side of a picture. */
  readonly edge: number;
  /** A request with more than `few` media: the largest longer side of its pictures, in pixels. */
  readonly crowd: { readonly few: number; readonly edge: number };
  /** Whether pictures that move are taken. */
  readonly moving: boolean;
}

const MB = 1024 * 1024;
const NOTHING = /^$/;
const PDF = /^application\/pdf$/;
const COMMON_PICTURES = /^image\/(?:png|jpeg|gif|webp)$/;
const NO_CROWD = { few: Number.POSITIVE_INFINITY, edge: Number.POSITIVE_INFINITY };

/** Providers measure base64, which is a third longer than the bytes: these are the bytes. */
const LIMITS: Readonly<Record<Provider | "other", MediaLimits>> = {
  anthropic: {
    types: { image: COMMON_PICTURES, pdf: PDF, audio: NOTHING, video: NOTHING },
    bytes: { image: 3.75 * MB, pdf: 22 * MB, audio: 0, video: 0 },
    total: 22 * MB,
    count: 100,
    edge: 8000,
    crowd: { few: 20, edge: 2000 },
    moving: true,
  },
  openai: {
    types: { image: COMMON_PICTURES, pdf: PDF, audio: NOTHING, video: NOTHING },
    bytes: { image: 15 * MB, pdf: 24 * MB, audio: 0, video: 0 },
    total: 35 * MB,
    count: 500,
    edge: Number.POSITIVE_INFINITY,
    crowd: NO_CROWD,
    moving: false,
  },
  google: {
    types: {
      image: /^image\/(?:png|jpeg|webp|heic|heif)$/,
      pdf: PDF,
      audio: /^audio\/(?:wav|mpeg|mp3|aiff|aac|ogg|flac)$/,
      video: /^video\/(?:mp4|mpeg|quicktime|x-msvideo|x-flv|webm|wmv|3gpp)$/,
    },
    bytes: { image: 14 * MB, pdf: 14 * MB, audio: 14 * MB, video: 14 * MB },
    total: 14 * MB,
    count: 3000,
    edge: Number.POSITIVE_INFINITY,
    crowd: NO_CROWD,
    moving: false,
  },
  other: {
    types: { image: COMMON_PICTURES, pdf: PDF, audio: /^audio\//, video: /^video\// },
    bytes: { image: 15 * MB, pdf: 15 * MB, audio: 15 * MB, video: 15 * MB },
    total: 15 * MB,
    count: 100,
    edge: Number.POSITIVE_INFINITY,
    crowd: NO_CROWD,
    moving: true,
  },
};

/** Some names of a type are known to fewer servers than others. */
const WIRE_TYPES: Readonly<Record<string, string>> = {
  "audio/mpeg": "audio/mp3",
  "audio/x-wav": "audio/wav",
  "image/jpg": "image/jpeg",
};

export function wireType(mimeType: string): string {
  return ownValue(WIRE_TYPES, mimeType) ?? mimeType;
}

/** Where this block would stand if nothing but its type counted. */
export function placementOf(block: MediaBlock, form: MediaForm): MediaPlacement {
  const kind = kindOf(block);
  if (kind === undefined) return undefined;
  const { mimeType } = block;
  const isTaken = mimeType === undefined || form.limits.types[kind].test(wireType(mimeType));
  if (!isTaken || (block.metadata?.animated && !form.limits.moving)) return undefined;
  const isLink = "url" in block && block.data === undefined && !block.url?.startsWith("backend:");
  // LangChain's package for OpenAI drops a link to a file without a word.
  return isLink && kind === "pdf" && form.provider === "openai" ? undefined : form.places[kind];
}

export function kindOf({ type, mimeType }: MediaBlock): Kind | undefined {
  if (type !== "file") return type;
  return mimeType === "application/pdf" ? "pdf" : undefined;
}

type Profile = Partial<Record<`${Kind}Inputs` | "imageToolMessage" | "pdfToolMessage", boolean>>;

/**
 * From the profile of the model; without one, from what the large providers are known to take. A model nobody knows
 * is sent pictures and PDFs until it refuses them.
 */
export function mediaForm(given: ChatModel): MediaForm {
  const model = innermostModel(given);
  const profile = (model as { profile?: Profile }).profile ?? {};
  const provider = providerOf(model);
  const isCertain = profile.imageInputs !== undefined;
  const trustsPeople = !isCertain && (provider === undefined || isOtherServer(model));
  const refused = trustsPeople ? refusedKinds(model) : NOTHING_REFUSED;
  const limits = LIMITS[provider ?? "other"];
  const place = (kind: Kind): MediaPlacement => {
    const isTried = !trustsPeople || kind === "image" || kind === "pdf";
    const isTaken = isCertain ? profile[`${kind}Inputs`] : isTried && !refused.has(kind);
    if (!isTaken || limits.types[kind] === NOTHING) return undefined;
    if (kind === "audio" || kind === "video") return "behind";
    const isTakenInside = profile[`${kind}ToolMessage`];
    if (provider === "anthropic") return isTakenInside === false ? "behind" : "inside";
    return provider === undefined && isTakenInside ? "inside" : "behind";
  };
  const places = { image: place("image"), pdf: place("pdf"), audio: place("audio"), video: place("video") };
  const takesImageUrls = IMAGE_URL_PACKAGES.test(model.getName());
  const key = JSON.stringify([provider, places, trustsPeople, takesImageUrls, [...refused]]);
  return { key, provider, places, trustsPeople, takesImageUrls, refused, limits };
}

const IMAGE_URL_PACKAGES = /ollama|groq|mistral/i;
const NOTHING_REFUSED: ReadonlySet<Kind> = new Set();

function providerOf(model: ChatModel): Provider | undefined {
  const name = model.getName();
  if (/anthropic/i.test(name)) return "anthropic";
  if (/openai/i.test(name)) return "openai";
  return /google|vertex|gemini/i.test(name) ? "google" : undefined;
}

/** Many servers speak OpenAI's protocol; what the models there take, their makers know. */
function isOtherServer(model: ChatModel): boolean {
  const { clientConfig } = model as { clientConfig?: { baseURL?: string | null } };
  const url = clientConfig?.baseURL;
  return typeof url === "string" && !/^https:\/\/(?:[\w-]+\.)*(?:openai\.com|azure\.com)(?:[/:]|$)/.test(url);
}
