/** Changes on the way that were not recorded, or not kept. */
import { PLACES } from "deepwright/internal";
import type { StoredImage } from "../../saver/file-image.ts";
import { COMMAND, DISK, LARGE } from "../images.ts";
import type { NotCovered } from "../threads.ts";

export interface NotCoveredRequest {
  readonly images: readonly StoredImage[];
  readonly isTouched: (image: StoredImage) => boolean;
  /** Files of a directory that changed at or after the moment; undefined for one that may not be looked at. */
  readonly changedSince: (place: string, moment: number) => Promise<readonly string[] | undefined>;
}

export async function notCoveredBy(request: NotCoveredRequest): Promise<NotCovered[]> {
  return [...tooLarge(request), ...(await notesOfCommands(request)), ...(await unrecorded(request))];
}

/** Each file once. */
function tooLarge({ images, isTouched }: NotCoveredRequest): NotCovered[] {
  const noted = images.filter((image) => image.place.startsWith(LARGE) && isTouched(image));
  const byFile = new Map(noted.map(({ place, path }) => [JSON.stringify([place, path]), { place, path }]));
  return [...byFile.values()].map(({ place, path }) => ({
    place: DISK + place.slice(LARGE.length),
    path,
    reason: "It is too large to be kept.",
  }));
}

async function notesOfCommands({ images, isTouched }: NotCoveredRequest): Promise<NotCovered[]> {
  const found: NotCovered[] = [];
  for (const image of images) {
    if (!image.place.startsWith(PLACES.walked) || !isTouched(image)) continue;
    const notes: unknown = ((await image.after()) as { notes?: unknown } | undefined)?.notes;
    if (!Array.isArray(notes)) continue;
    const place = DISK + image.place.slice(PLACES.walked.length);
    for (const note of notes) found.push({ place, command: image.path, reason: String(note) });
  }
  return found;
}

/** The times of files come from a clock that is late by up to a tick. */
const CLOCK_TICK_MS = 10;

/** Commands whose changes were not recorded, and files that changed since the first of them. */
async function unrecorded({ images, isTouched, changedSince }: NotCoveredRequest): Promise<NotCovered[]> {
  const commands = images.filter(
    (image) => image.place.startsWith(COMMAND) && isTouched(image) && !isRecorded(image, images),
  );
  const found: NotCovered[] = commands.map(({ place, path }) => ({
    place: diskOf(place),
    command: path,
    reason: "What a command wrote is not kept.",
  }));
  for (const disk of new Set(commands.map(({ place }) => diskOf(place)))) {
    const first = (commands.find(({ place }) => diskOf(place) === disk)?.at ?? 0) - CLOCK_TICK_MS;
    const covered = new Set(images.filter(({ place }) => place === disk).map(({ path }) => path));
    for (const path of (await changedSince(disk, first)) ?? [])
      if (!covered.has(path))
        found.push({ place: disk, path, reason: "It changed after a command was run." });
  }
  return found;
}

export function isRecorded(command: StoredImage, images: readonly StoredImage[]): boolean {
  const place = PLACES.walked + command.place.slice(COMMAND.length);
  return images.some(
    (image) =>
      image.place === place &&
      image.sequence > command.sequence &&
      image.path === command.path &&
      image.checkpointId === command.checkpointId,
  );
}

function diskOf(place: string): string {
  return DISK + place.slice(COMMAND.length);
}
