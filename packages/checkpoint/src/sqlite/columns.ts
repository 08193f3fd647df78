/** Many objects as a few columns, because objects are copied part by part between threads. */
import type { StoredObject } from "../storage/storage.ts";

export interface ObjectColumns {
  readonly ids: number[];
  readonly kinds: number[];
  /** How many of `refs` are each object's. */
  readonly counts: number[];
  readonly refs: number[];
  readonly bodies: (string | Uint8Array)[];
}

export function columnsOf(objects: readonly StoredObject[]): ObjectColumns {
  const columns: ObjectColumns = { ids: [], kinds: [], counts: [], refs: [], bodies: [] };
  for (const { id, kind, refs, body } of objects) {
    columns.ids.push(id);
    columns.kinds.push(kind);
    columns.counts.push(refs.length);
    for (const ref of refs) columns.refs.push(ref);
    columns.bodies.push(body);
  }
  return columns;
}

export function objectsOf({ ids, kinds, counts, refs, bodies }: ObjectColumns): StoredObject[] {
  let used = 0;
  return ids.map((id, index) => {
    const start = used;
    used += counts[index] as number;
    return {
      id,
      kind: kinds[index] as number,
      refs: refs.slice(start, used),
      body: bodies[index] as string | Uint8Array,
    };
  });
}
