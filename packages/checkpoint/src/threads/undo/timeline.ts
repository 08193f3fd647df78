/** The changes of each file outside the state, in the order they were recorded. */
import { type ImageAuthor, PLACES, type TreeEntry } from "deepwright/internal";
import type { StoredImage } from "../../saver/file-image.ts";
import { DISK, LARGE, NOTES, pathsInSet } from "../images.ts";

export type Entry = TreeEntry | undefined;

/** One recorded change of one file. */
export interface Link {
  readonly checkpointId: string;
  readonly sequence: number;
  readonly at: number;
  readonly by: ImageAuthor;
  before(): Promise<Entry>;
  after(): Promise<Entry>;
}

export interface FileTimeline {
  /** `disk:` and the real path of a directory. */
  readonly place: string;
  readonly path: string;
  readonly links: readonly Link[];
}

/** Sorted by place and path. */
export function timelines(images: readonly StoredImage[]): FileTimeline[] {
  const files = new Map<string, { place: string; path: string; links: Link[] }>();
  const add = (place: string, path: string, link: Link): void => {
    const key = JSON.stringify([place, path]);
    const file = files.get(key) ?? { place, path, links: [] };
    files.set(key, file);
    file.links.push(link);
  };
  const sets = new SetReader();
  for (const image of images) {
    const { place, path } = image;
    if (place.startsWith(PLACES.tree)) {
      const disk = DISK + place.slice(PLACES.tree.length);
      for (const one of pathsInSet(path)) add(disk, one, setLink(image, one, sets));
    } else if (!OTHERS.some((prefix) => place.startsWith(prefix))) add(place, path, fileLink(image));
  }
  return [...files.keys()].sort().map((key) => files.get(key) as FileTimeline);
}

const OTHERS = [...NOTES, LARGE];

function fileLink(image: StoredImage): Link {
  const entry = (content: string | Uint8Array | undefined): Entry =>
    content === undefined ? undefined : { type: "file", mode: undefined, content };
  return {
    ...factsOf(image),
    before: async () => entry(await image.before()),
    after: async () => entry(await image.after()),
  };
}

function setLink(image: StoredImage, path: string, sets: SetReader): Link {
  return {
    ...factsOf(image),
    before: () => sets.entry(image, "before", path),
    after: () => sets.entry(image, "after", path),
  };
}

function factsOf({ checkpointId, sequence, at, by = {} }: StoredImage) {
  return { checkpointId, sequence, at, by };
}

/** Sets that are kept at a time; neighbours in a set are asked for one behind the other. */
const MOST_SETS = 8;

class SetReader {
  readonly #sets = new Map<string, Promise<Readonly<Record<string, TreeEntry>>>>();

  async entry(image: StoredImage, side: "before" | "after", path: string): Promise<Entry> {
    const key = `${image.sequence} ${side}`;
    const entries = await (this.#sets.get(key) ?? this.#read(key, image, side));
    return Object.hasOwn(entries, path) ? entries[path] : undefined;
  }

  #read(key: string, image: StoredImage, side: "before" | "after") {
    const reading = image[side]().then((set) => entriesOf(set));
    this.#sets.set(key, reading);
    const [oldest] = this.#sets.keys();
    if (this.#sets.size > MOST_SETS && oldest !== undefined) this.#sets.delete(oldest);
    return reading;
  }
}

/** Stored text may come from elsewhere: anything that is no set has no entries. */
function entriesOf(set: unknown): Readonly<Record<string, TreeEntry>> {
  const entries: unknown = (set as { entries?: unknown } | undefined)?.entries;
  return typeof entries === "object" && entries !== null ? (entries as Record<string, TreeEntry>) : {};
}
