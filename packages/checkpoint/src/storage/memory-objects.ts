/** The objects of all threads in memory, and which threads use them. */

import type { MemoryThread } from "./memory-thread.ts";
import { reachable } from "./reachable.ts";
import { encodeRefs } from "./refs.ts";
import type { NewObject, StoredObject } from "./storage.ts";

interface Kept extends StoredObject {
  readonly hash: string;
  readonly users: Set<MemoryThread>;
}

/** Kind and owner. */
const NUMBERS_BYTES = 16;

export class MemoryObjects {
  private readonly byId = new Map<number, Kept>();
  private readonly byHash = new Map<string, Kept>();
  private last = 0;
  /** Bytes of new content, its hashes and references, as a database would count them. */
  bytesAdded = 0;

  /** Ids, in order. Refs point to stored objects or to earlier ones of the same list. */
  add(thread: MemoryThread, objects: readonly NewObject[]): number[] {
    const ids: number[] = [];
    for (const { hash, kind, refs, body } of objects) {
      const key = Buffer.from(hash).toString("latin1");
      const known = this.byHash.get(key);
      known?.users.add(thread);
      ids.push(
        known?.id ??
          this.insert(
            thread,
            key,
            kind,
            body,
            refs.map((ref) => (ref < 0 ? (ids[-ref - 1] as number) : ref)),
          ),
      );
    }
    return ids;
  }

  isUsedBy(thread: MemoryThread, id: number): boolean {
    return this.byId.get(id)?.users.has(thread) ?? false;
  }

  closure(ids: readonly number[], known: ReadonlySet<number>): StoredObject[] {
    const found = reachable(ids, (id) => this.byId.get(id)?.refs, known);
    return Array.from(found, (id) => this.byId.get(id) as StoredObject);
  }

  /** The thread uses everything the roots lead to. */
  share(thread: MemoryThread, roots: ReadonlySet<number>): void {
    for (const id of reachable(roots, (ref) => this.byId.get(ref)?.refs))
      this.byId.get(id)?.users.add(thread);
  }

  /** The thread keeps only objects that the roots lead to; unused objects are removed. */
  keepOnly(thread: MemoryThread, roots: ReadonlySet<number>): void {
    const kept = reachable(roots, (ref) => this.byId.get(ref)?.refs);
    for (const object of this.byId.values()) {
      if (kept.has(object.id) || !object.users.delete(thread) || object.users.size > 0) continue;
      this.byId.delete(object.id);
      this.byHash.delete(object.hash);
    }
  }

  total(): { count: number; bytes: number } {
    let bytes = 0;
    for (const { body } of this.byId.values()) bytes += byteLength(body);
    return { count: this.byId.size, bytes };
  }

  private insert(
    thread: MemoryThread,
    hash: string,
    kind: number,
    body: string | Uint8Array,
    refs: readonly number[],
  ): number {
    this.last += 1;
    this.bytesAdded += hash.length + NUMBERS_BYTES + encodeRefs(refs).length + byteLength(body);
    const object: Kept = { id: this.last, hash, kind, refs, body, users: new Set([thread]) };
    this.byId.set(object.id, object);
    this.byHash.set(hash, object);
    return object.id;
  }
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}
