/**
 * Reads a thread from lines of text.
 *
 * It is built under a name of its own and gets the one asked for when it is whole: a bad file, or the end
 * of the process, leaves no part of a thread behind under that name.
 */
import { DeepwrightError } from "deepwright/errors";
import { contentHash } from "../content/handle.ts";
import type { ThreadClaim } from "../saver/claim.ts";
import { isIndexable } from "../saver/facts.ts";
import { checkedId } from "../saver/ids.ts";
import { FIXED_REFS } from "../saver/record.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import type { FactChanges, NewObject, PutBatch, ThreadStorage } from "../storage/storage.ts";
import { Reads } from "./reads.ts";
import { type HeaderLine, LineReader, type ObjectLine } from "./thread-file.ts";

type Lines = AsyncIterable<string> | Iterable<string>;
type Rows = Pick<PutBatch, "checkpoint" | "writes" | "image" | "facts">;

/** Nobody names a thread so: one that is there was left by an import that did not end. */
const SUFFIX = " (unfinished import)";

/** Returns the id of the thread. Throws THREAD_EXISTS. */
export async function importThread(
  saver: SharedSaver,
  lines: Lines,
  as: string | undefined,
): Promise<string> {
  const reader = new LineReader();
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  try {
    const first = await iterator.next();
    if (first.done)
      throw new DeepwrightError("INVALID_INPUT", "The thread file is empty.", {
        hint: "Nothing was imported.",
      });
    const header = reader.header(first.value);
    const threadId = checkedId("thread_id", as ?? header.threadId);
    if (await saver.storage.thread(threadId)) throw threadExists(threadId);
    await build(saver, threadId, header, reader, iterator);
    return threadId;
  } finally {
    await iterator.return?.();
  }
}

function threadExists(threadId: string): DeepwrightError {
  return new DeepwrightError("THREAD_EXISTS", `There is a thread '${threadId}' already.`, {
    hint: "Import it under another name.",
  });
}

async function build(
  saver: SharedSaver,
  threadId: string,
  header: HeaderLine,
  reader: LineReader,
  lines: Iterator<string> | AsyncIterator<string>,
): Promise<void> {
  const { storage } = saver;
  const unfinished = checkedId("thread_id", threadId + SUFFIX);
  await storage.deleteThread(unfinished);
  const claim = await saver.claimThread(unfinished, { mode: "refuse" });
  try {
    const builder = new Builder(storage, unfinished, claim, reader);
    await readLines(reader, lines, builder);
    await builder.finish(header);
    await checkReadable(saver, unfinished, reader);
    await storage.copyThread(unfinished, threadId, timeOf(header.facts.updatedAt));
  } finally {
    await storage.deleteThread(unfinished, claim.fence);
    await claim.release();
  }
}

async function readLines(
  reader: LineReader,
  lines: Iterator<string> | AsyncIterator<string>,
  builder: Builder,
): Promise<void> {
  let ended = false;
  for (let item = await lines.next(); !item.done; item = await lines.next()) {
    if (item.value.trim() === "") continue;
    const line = reader.body(item.value);
    reader.check(!ended, "comes after the end");
    switch (line.type) {
      case "object":
        await builder.object(line);
        break;
      case "checkpoint": {
        const { namespace, id, parent, root, body } = line;
        const checkpoint = { id, parent, root, refs: builder.refs(line.refs), body };
        builder.reads.check(line.refs, line.refs.slice(FIXED_REFS), body);
        await builder.row("checkpoints", namespace, { checkpoint });
        break;
      }
      case "writes": {
        const { namespace, checkpointId, taskId } = line;
        const entries = line.entries.map(({ index, channel, body, refs }) => {
          builder.reads.check(refs, refs, body);
          return { index, channel, body, refs: builder.refs(refs) };
        });
        await builder.row("writes", namespace, { writes: { checkpointId, taskId, entries } });
        break;
      }
      case "image": {
        const { checkpointId, place, path, before, after } = line;
        const ref = (number: number | undefined) => (number === undefined ? undefined : builder.ref(number));
        const image = { checkpointId, place, path, before: ref(before), after: ref(after) };
        await builder.row("images", "", { image });
        break;
      }
      case "end":
        for (const [name, count] of Object.entries(builder.counts))
          reader.check(
            line[name as keyof typeof builder.counts] === count,
            `counts other ${name} than there are`,
          );
        reader.check(builder.counts.checkpoints > 0, "ends a thread without checkpoints");
        ended = true;
    }
  }
  if (!ended)
    throw new DeepwrightError(
      "INVALID_INPUT",
      `The thread file ends after line ${reader.number}, before its end.`,
      {
        hint: "It was cut off. Nothing was imported.",
      },
    );
}

const BATCH_OBJECTS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** Puts objects in batches and rows as they come, with the objects before them. */
class Builder {
  readonly counts = { objects: 0, checkpoints: 0, writes: 0, images: 0 };
  readonly reads: Reads;
  /** By number in the file: the id in the storage, or what the next batch calls it. */
  private readonly ids: number[] = [];
  private readonly hashes: { readonly hash: string }[] = [];
  private pending: NewObject[] = [];
  private characters = 0;
  private epoch = 0;

  constructor(
    private readonly storage: ThreadStorage,
    private readonly threadId: string,
    private readonly claim: ThreadClaim,
    private readonly reader: LineReader,
  ) {
    this.reads = new Reads(reader);
  }

  async object({ kind, refs, hash, text, base64 }: ObjectLine): Promise<void> {
    const numbers = this.refs(refs);
    const body = text ?? new Uint8Array(Buffer.from(base64 as string, "base64"));
    const actual = contentHash(
      kind,
      refs.map((number) => this.hashes[number] as { hash: string }),
      body,
    );
    this.reader.check(actual === hash, "does not match its hash");
    this.reads.add(refs, body);
    this.pending.push({ kind, refs: numbers, body, hash: Buffer.from(hash, "hex") });
    this.ids.push(-this.pending.length);
    this.hashes.push({ hash });
    this.counts.objects += 1;
    this.characters += body.length;
    if (this.pending.length >= BATCH_OBJECTS || this.characters >= BATCH_CHARACTERS) await this.put("", {});
  }

  refs(numbers: readonly number[]): number[] {
    return numbers.map((number) => this.ref(number));
  }

  ref(number: number): number {
    const id = this.ids[number];
    if (id === undefined)
      throw this.reader.invalid(`refers to object ${number}, which does not come before it`);
    return id;
  }

  async row(count: "checkpoints" | "writes" | "images", namespace: string, rows: Rows): Promise<void> {
    this.counts[count] += 1;
    await this.put(namespace, rows);
  }

  async finish({ facts }: HeaderLine): Promise<void> {
    const changes = factsOf(facts);
    if (Object.keys(changes).length > 0) await this.put("", { facts: changes });
  }

  private async put(namespace: string, rows: Rows): Promise<void> {
    const { storage, threadId, epoch, pending: objects } = this;
    await this.claim.check();
    const now = Date.now();
    const result = await storage.put({
      threadId,
      namespace,
      epoch,
      fence: this.claim.fence,
      now,
      objects,
      ...rows,
    });
    if (result.stale)
      throw new DeepwrightError("STORAGE_BUSY", "Content was pruned while the thread was imported.", {
        hint: "Import it again.",
      });
    this.epoch = result.epoch;
    const first = this.ids.length - objects.length;
    for (const [i, id] of result.ids.entries()) this.ids[first + i] = id;
    this.pending = [];
    this.characters = 0;
  }
}

const MOST_CHARACTERS = 1_000;

/** Only what is of the kind it should be. */
function factsOf(facts: HeaderLine["facts"]): FactChanges {
  const texts = ["title", "firstPrompt", "model", "cwd"] as const;
  const changes: Record<string, string | number> = {};
  for (const name of texts) {
    const text: unknown = facts[name];
    if (typeof text !== "string" || (name === "cwd" && !isIndexable(text))) continue;
    changes[name] = text.slice(0, MOST_CHARACTERS).toWellFormed().replaceAll("\0", "");
  }
  const { messageCount } = facts;
  if (Number.isSafeInteger(messageCount) && (messageCount as number) >= 0)
    changes.messageCount = messageCount as number;
  return changes;
}

function timeOf(updatedAt: unknown): number {
  const now = Date.now();
  return Number.isSafeInteger(updatedAt) && (updatedAt as number) > 0
    ? Math.min(updatedAt as number, now)
    : now;
}

/** Lines may be whole and still say nothing: the newest state is read once. */
async function checkReadable(saver: SharedSaver, threadId: string, reader: LineReader): Promise<void> {
  try {
    if (await saver.getTuple({ configurable: { thread_id: threadId } })) return;
  } catch (cause) {
    if (cause instanceof DeepwrightError && cause.code !== "STORAGE_CORRUPT") throw cause;
    throw new DeepwrightError("INVALID_INPUT", "The thread file holds a state that cannot be read.", {
      hint: "Nothing was imported.",
      cause,
    });
  }
  throw reader.invalid("ends a thread that has no state of its own");
}
