/** A file outside the state, before and after a step. */
import type { ImageAuthor } from "deepwright/internal";

export type { ImageAuthor };

/** `undefined`: there is no file. */
export type FileContent = string | Uint8Array | undefined;

export interface FileImage {
  /** The checkpoint the step began with: the one a tool finds in its config. */
  readonly checkpointId: string;
  /** Tree of files that contains the path, e.g. a root directory. */
  readonly place: string;
  readonly path: string;
  /** `undefined` if there was no file. */
  readonly before: FileContent;
  /** `undefined` if there is none any more. */
  readonly after: FileContent;
  /** Absent: not known. */
  readonly by?: ImageAuthor;
}

/** A row that holds more than the content of one file, such as a set of changed entries. */
export interface ImageOf<Value> extends Omit<FileImage, "before" | "after"> {
  readonly before: Value;
  readonly after: Value;
}

export interface StoredImage {
  readonly checkpointId: string;
  readonly place: string;
  readonly path: string;
  /** Grows in the order in which images were recorded. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by?: ImageAuthor;
  before(): Promise<FileContent>;
  after(): Promise<FileContent>;
}

const BY = "by:";
const FIELDS = ["kind", "call", "agent", "task"] as const;

/** The stored place contains the author: `by:call=…&agent=…:disk:/work`. */
export function storedPlace(place: string, by: ImageAuthor | undefined): string {
  const given = FIELDS.flatMap((field) => {
    const value = by?.[field];
    return value ? [`${field}=${encodeURIComponent(value.toWellFormed().replaceAll("\0", ""))}`] : [];
  });
  return given.length === 0 ? place : `${BY}${given.join("&")}:${place}`;
}

/** A place without its author, and the author. */
export function placeAndAuthor(stored: string): { readonly place: string; readonly by?: ImageAuthor } {
  if (!stored.startsWith(BY)) return { place: stored };
  const end = stored.indexOf(":", BY.length);
  if (end < 0) return { place: stored };
  const given = new Map(
    stored
      .slice(BY.length, end)
      .split("&")
      .map((field) => field.split("=") as [string, string]),
  );
  const by: Record<string, string> = {};
  for (const field of FIELDS) {
    const value = given.get(field);
    if (value !== undefined) by[field] = decoded(value);
  }
  return { place: stored.slice(end + 1), by: by as ImageAuthor };
}

/** Stored text may come from elsewhere. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
