/** Content that is, or will be, an object of a storage: identified by its hash before it has an id. */
import { contentHash, shortHash } from "../storage/content-hash.ts";
import type { NewObject } from "../storage/storage.ts";

export { contentHash };

/** Meaning of an object's body. Numbers are stored: never reuse one. */
export const KIND = {
  /** Inert JSON (see inert.ts). */
  value: 1,
  text: 2,
  /** Text with lone surrogates, as UTF-16LE. */
  text16: 3,
  bytes: 4,
  /** The refs, joined. */
  joinedText: 5,
  joinedText16: 6,
  joinedBytes: 7,
  /** Elements: the refs when the body is empty, else a JSON array. */
  list: 8,
  /** Lists, joined. */
  lists: 9,
  /** `[key, …]` with one ref each, or `[[key, …], [value, …]]`. */
  map: 10,
  /** Maps, joined. */
  maps: 11,
} as const;

interface Content {
  readonly kind: number;
  readonly refs: readonly Handle[];
  readonly body: string | Uint8Array;
}

export class Handle {
  /** Known once a storage has it. */
  id: number | undefined;
  /** 40 hex digits. */
  readonly hash: string;
  /** Size of all objects it refers to, each counted per reference. */
  readonly weight: number;
  private content: Content | undefined;

  /**
   * `repeated` is the weight of refs that the body uses more than once, beyond the first time. `hash` is the
   * `contentHash` of the rest, if known.
   */
  constructor(
    kind: number,
    refs: readonly Handle[],
    body: string | Uint8Array,
    repeated = 0,
    hash = contentHash(kind, refs, body),
  ) {
    this.content = { kind, refs, body };
    this.hash = hash;
    let weight = body.length + 1 + repeated;
    for (const ref of refs) weight += ref.weight;
    this.weight = weight;
  }

  /** The storage has it: the content is no longer needed here. */
  stored(id: number): void {
    this.id = id;
    this.content = undefined;
  }

  pending(): Content | undefined {
    return this.content;
  }
}

const TEXT_HEAD = Buffer.from(`${KIND.text}:;`);

/**
 * The hash of a text without references, all ASCII, whose bytes are there from `start` to `end`. Overwrites the
 * three bytes before `start`.
 */
export function asciiHash(bytes: Buffer, start: number, end: number): string {
  const head = start - TEXT_HEAD.length;
  bytes.set(TEXT_HEAD, head);
  return shortHash(bytes.subarray(head, end));
}

/** Objects of `roots` and all they lead to that are not stored yet: content before the objects that refer to it. */
export class Batch {
  readonly handles: Handle[] = [];
  readonly objects: NewObject[] = [];
  private readonly places = new Map<string, number>();

  /** The number by which the batch refers to the handle. */
  ref(handle: Handle): number {
    if (handle.id !== undefined) return handle.id;
    const place = this.places.get(handle.hash);
    if (place !== undefined) {
      this.twins.push([handle, place]);
      return -(place + 1);
    }
    return this.add(handle);
  }

  /** Equal content under two handles is sent once. */
  private readonly twins: [Handle, number][] = [];

  private add(handle: Handle): number {
    const { kind, refs, body } = handle.pending() as Content;
    const numbers = refs.map((ref) => this.ref(ref));
    const place = this.objects.length;
    this.objects.push({ kind, refs: numbers, body, hash: hashBytes(handle.hash) });
    this.handles.push(handle);
    this.places.set(handle.hash, place);
    return -(place + 1);
  }

  stored(ids: readonly number[]): void {
    for (const [i, handle] of this.handles.entries()) handle.stored(ids[i] as number);
    for (const [handle, place] of this.twins) handle.stored(ids[place] as number);
  }
}

/** Not a view of a larger buffer: a message to another thread would carry all of that. */
function hashBytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}
