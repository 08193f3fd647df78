/** Contents of images: one file, or any other value. */
import { Decoder } from "../content/decode.ts";
import type { Encoder } from "../content/encode.ts";
import type { Handle } from "../content/handle.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { type FileContent, placeAndAuthor, type StoredImage } from "./file-image.ts";

export function contentHandle(encoder: Encoder, value: unknown): Handle | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" || value instanceof Uint8Array
    ? encoder.content(value)
    : encoder.object(value);
}

export async function readImages(storage: ThreadStorage, threadId: string): Promise<StoredImage[]> {
  const rows = await storage.listImages(threadId);
  return rows.map(({ before, after, place, ...row }) => ({
    ...row,
    ...placeAndAuthor(place),
    before: () => contentAt(storage, before),
    after: () => contentAt(storage, after),
  }));
}

async function contentAt(storage: ThreadStorage, id: number | undefined): Promise<FileContent> {
  if (id === undefined) return undefined;
  const decoder = new Decoder();
  decoder.add(await storage.loadObjects([id]));
  return decoder.value(id) as FileContent;
}
