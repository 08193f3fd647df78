/** Small trees of content, put and read through a storage as a saver would. */
import { contentHash } from "./content-hash.ts";
import type { NewObject, PutBatch, PutResult, StoredObject, ThreadStorage, TupleRows } from "./storage.ts";

export interface Tree {
  readonly kind: number;
  readonly body: string | Uint8Array;
  readonly children: readonly Tree[];
}

export function tree(body: string | Uint8Array, ...children: readonly Tree[]): Tree {
  return { kind: typeof body === "string" ? 1 : 2, body, children };
}

/** Children first, each once. */
export function objectsOf(roots: readonly Tree[]): { objects: NewObject[]; refs: number[] } {
  const objects: NewObject[] = [];
  const places = new Map<string, number>();
  const add = (node: Tree): number => {
    const refs = node.children.map(add);
    const hash = hashOf(node);
    const name = hash.toString("hex");
    const place = places.get(name);
    if (place !== undefined) return -(place + 1);
    places.set(name, objects.length);
    return -objects.push({ kind: node.kind, body: node.body, refs, hash: new Uint8Array(hash) });
  };
  return { refs: roots.map(add), objects };
}

function hashOf(node: Tree): Buffer {
  const refs = node.children.map((child) => ({ hash: hashOf(child).toString("hex") }));
  return Buffer.from(contentHash(node.kind, refs, node.body), "hex");
}

export interface Step {
  readonly threadId: string;
  readonly id: string;
  readonly namespace?: string;
  readonly parent?: string;
  readonly root?: string;
  readonly body?: string;
  readonly content?: readonly Tree[];
  readonly now?: number;
  readonly fence?: number;
  readonly facts?: PutBatch["facts"];
}

/** Puts a checkpoint with all of its content, as a saver does that knows nothing of the thread. */
export function putStep(storage: ThreadStorage, step: Step): Promise<PutResult> {
  const { objects, refs } = objectsOf(step.content ?? []);
  return storage.put({
    threadId: step.threadId,
    namespace: step.namespace ?? "",
    epoch: 0,
    fence: step.fence,
    now: step.now ?? 1_000,
    objects,
    checkpoint: {
      id: step.id,
      parent: step.parent,
      root: step.root,
      refs,
      body: step.body ?? `body of ${step.id}`,
    },
    facts: step.facts,
  });
}

/** Objects of the refs of a row; throws when one is missing. */
export async function readTrees(storage: ThreadStorage, refs: readonly number[]): Promise<Tree[]> {
  const loaded = await storage.loadObjects(refs);
  const objects = new Map(loaded.map((object) => [object.id, object]));
  const build = (id: number): Tree => {
    const { kind, body, refs: children } = objects.get(id) as StoredObject;
    return {
      kind,
      body: typeof body === "string" ? body : new Uint8Array(body),
      children: children.map(build),
    };
  };
  return refs.map(build);
}

export async function readStep(
  storage: ThreadStorage,
  threadId: string,
  id?: string,
  namespace = "",
): Promise<(TupleRows & { readonly content: Tree[] }) | undefined> {
  const rows = await storage.readTuple(threadId, namespace, id);
  return rows && { ...rows, content: await readTrees(storage, rows.checkpoint.refs) };
}

/** The n-th of ids that sort as they were made, in the form LangGraph gives them. */
export function uuid(n: number): string {
  return `1ef4f797-8335-6428-8001-${n.toString(16).padStart(12, "0")}`;
}
