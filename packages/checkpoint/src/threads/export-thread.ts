/** Writes a thread as lines of text. */
import { DeepwrightError } from "deepwright/errors";
import { contentHash } from "../content/handle.ts";
import { FIXED_REFS, parseBody } from "../saver/record.ts";
import { damaged, readStored } from "../storage/damaged.ts";
import type {
  CheckpointRow,
  ImageRow,
  StoredObject,
  ThreadFacts,
  ThreadStorage,
  TupleRows,
  WritesRow,
} from "../storage/storage.ts";
import { threadNotFound } from "./lineage.ts";
import { refIndexes } from "./reads.ts";
import {
  type BodyLine,
  FORMAT_NAME,
  FORMAT_VERSION,
  type HeaderLine,
  type LineCounts,
} from "./thread-file.ts";

const PAGE = 20;

/** Numbers of objects that have been written. Contents are not kept. */
interface Written {
  readonly numbers: Map<number, { readonly number: number; readonly hash: string }>;
  readonly counts: { -readonly [Key in keyof LineCounts]: number };
}

/** Without line ends. Memory: the contents of a page of checkpoints that no page before it had. */
export async function* exportThread(storage: ThreadStorage, threadId: string): AsyncGenerator<string> {
  const found = await storage.thread(threadId);
  if (!found) throw threadNotFound(threadId);
  const epoch = await storage.epochOf(threadId);
  try {
    yield* linesOf(storage, found);
  } catch (error) {
    // Only a prune makes content go, and it begins an epoch.
    if (!(error instanceof MissingContent) || (await storage.epochOf(threadId)) !== epoch) throw error;
    throw damaged(`content of the thread "${threadId}" is missing`, error);
  }
}

async function* linesOf(storage: ThreadStorage, found: ThreadFacts): AsyncGenerator<string> {
  const { threadId, title, firstPrompt, messageCount, model, cwd, updatedAt, checkpointCount } = found;
  const facts = { title, firstPrompt, messageCount, model, cwd, updatedAt };
  const header: HeaderLine = { format: FORMAT_NAME, version: FORMAT_VERSION, threadId, facts };
  yield lineOf(header);
  const written: Written = {
    numbers: new Map(),
    counts: { objects: 0, checkpoints: 0, writes: 0, images: 0 },
  };
  for await (const page of pagesOf(storage, threadId)) {
    yield* objectLines(storage, page.flatMap(refsOf), written);
    for (const rows of page) yield* rowLines(rows, written);
  }
  if (written.counts.checkpoints < checkpointCount) throw new MissingContent();
  const images = await storage.listImages(threadId);
  for (const image of images) {
    yield* objectLines(storage, imageRefs(image), written);
    yield imageLine(image, written);
  }
  yield lineOf({ type: "end", ...written.counts });
}

/** Also for readers that take every line break of Unicode for one. */
function lineOf(line: HeaderLine | BodyLine): string {
  return JSON.stringify(line).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

async function* pagesOf(storage: ThreadStorage, threadId: string): AsyncGenerator<readonly TupleRows[]> {
  let after: { threadId: string; namespace: string; id: string } | undefined;
  while (true) {
    const page = await storage.listRows({ threadId, after, limit: PAGE });
    if (page.length > 0) yield page;
    const last = page.at(-1)?.checkpoint;
    if (!last || page.length < PAGE) return;
    after = { threadId, namespace: last.namespace, id: last.id };
  }
}

function refsOf({ checkpoint, writes }: TupleRows): number[] {
  return [...checkpoint.refs, ...writes.flatMap(({ entries }) => entries.flatMap(({ refs }) => refs))];
}

function imageRefs({ before, after }: ImageRow): number[] {
  return [before, after].filter((ref) => ref !== undefined);
}

async function* objectLines(
  storage: ThreadStorage,
  ids: readonly number[],
  written: Written,
): AsyncGenerator<string> {
  const { numbers, counts } = written;
  const missing = ids.filter((id) => !numbers.has(id));
  if (missing.length === 0) return;
  const loaded = await storage.loadObjects(missing, [...numbers.keys()]);
  for (const object of childrenFirst(missing, new Map(loaded.map((item) => [item.id, item])))) {
    if (numbers.has(object.id)) continue;
    const refs = object.refs.map((ref) => entryOf(ref, written));
    const hash = contentHash(object.kind, refs, object.body);
    numbers.set(object.id, { number: counts.objects, hash });
    counts.objects += 1;
    const body =
      typeof object.body === "string"
        ? { text: object.body }
        : { base64: Buffer.from(object.body).toString("base64") };
    const { kind } = object;
    yield lineOf({
      type: "object",
      kind,
      refs: refs.map(({ number }) => number),
      hash,
      ...body,
    });
  }
}

/** Without recursion: an object may lead to a long chain of others. */
function* childrenFirst(
  roots: readonly number[],
  objects: ReadonlyMap<number, StoredObject>,
): Generator<StoredObject> {
  const done = new Set<number>();
  const open = [...roots];
  while (open.length > 0) {
    const id = open.at(-1) as number;
    const object = done.has(id) ? undefined : objects.get(id);
    const next = object?.refs.filter((ref) => !done.has(ref) && objects.has(ref)) ?? [];
    if (next.length > 0) open.push(...next);
    else {
      open.pop();
      done.add(id);
      if (object) yield object;
    }
  }
}

function entryOf(id: number, { numbers }: Written): { readonly number: number; readonly hash: string } {
  const entry = numbers.get(id);
  if (entry) return entry;
  throw new MissingContent();
}

class MissingContent extends DeepwrightError {
  constructor() {
    super("STORAGE_BUSY", "The thread was pruned or deleted while it was exported.", {
      hint: "Export it again.",
    });
  }
}

function* rowLines({ checkpoint, writes }: TupleRows, written: Written): Generator<string> {
  written.counts.checkpoints += 1;
  yield checkpointLine(checkpoint, written);
  for (const row of writes) {
    written.counts.writes += 1;
    yield writesLine(checkpoint, row, written);
  }
}

function checkpointLine(row: CheckpointRow, written: Written): string {
  parseBody(row);
  checkRefs(row.body, row.refs.length - FIXED_REFS, row.id);
  const { namespace, id, parent, root, body } = row;
  const refs = row.refs.map((ref) => entryOf(ref, written).number);
  return lineOf({ type: "checkpoint", namespace, id, parent, root, refs, body });
}

/** A file must not be written that cannot be read again. */
function checkRefs(body: string, refs: number, checkpointId: string): void {
  if (refIndexes(body).some((place) => place >= refs))
    throw damaged(`a value of checkpoint ${checkpointId} refers to nothing`);
}

function writesLine(
  { namespace, id }: CheckpointRow,
  { taskId, entries }: WritesRow,
  written: Written,
): string {
  for (const { body, refs } of entries) {
    readStored(`a write on checkpoint ${id}`, () => JSON.parse(body));
    checkRefs(body, refs.length, id);
  }
  return lineOf({
    type: "writes",
    namespace,
    checkpointId: id,
    taskId,
    entries: entries.map((entry) => ({
      ...entry,
      refs: entry.refs.map((ref) => entryOf(ref, written).number),
    })),
  });
}

function imageLine({ checkpointId, place, path, before, after }: ImageRow, written: Written): string {
  written.counts.images += 1;
  const number = (ref: number | undefined) => (ref === undefined ? undefined : entryOf(ref, written).number);
  return lineOf({
    type: "image",
    checkpointId,
    place,
    path,
    before: number(before),
    after: number(after),
  });
}
