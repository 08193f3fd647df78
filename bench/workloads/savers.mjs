/** The stock savers, with a count of what is written through them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph-checkpoint";

/** `{ saver, counts, close }`; for "none" the saver is undefined and the counts stay 0. */
export async function openSaver(kind, path) {
  if (kind === "none") return { counts: newCounts(), close() {} };
  if (kind === "memory") return counted(new MemorySaver(), () => {});
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  const folder = path === undefined ? mkdtempSync(join(tmpdir(), "deepwright-bench-")) : undefined;
  const saver = SqliteSaver.fromConnString(path ?? join(folder, "threads.db"));
  return counted(saver, () => {
    saver.db.close();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });
}

/**
 * The saver a user of the contender would take, as `{ saver, written, size, close }`: ours for ours, the
 * stock one for the others. `written` are bytes, `size` is the file's; `path` opens a file that stays.
 */
export async function openSaverOf(contender, kind, path) {
  if (contender !== "deepwright") return stockSaver(kind, path);
  const folder = path === undefined ? mkdtempSync(join(tmpdir(), "deepwright-bench-")) : undefined;
  const saver = await ownSaver(kind, path ?? join(folder, "threads.db"));
  return {
    saver,
    written: async () => (await saver.counts()).bytesWritten,
    size: () => saver.size(),
    close: async () => {
      await saver.close();
      if (folder !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

async function ownSaver(kind, path) {
  if (kind === "memory") return new (await import("@deepwright/checkpoint")).SharedMemorySaver();
  return (await import("@deepwright/checkpoint/sqlite")).SqliteSaver.open(path);
}

async function stockSaver(kind, path) {
  const { saver, counts, close } = await openSaver(kind, path);
  return {
    saver,
    written: async () => counts.bytes,
    size: async () => {
      if (kind === "memory") return counts.bytes;
      saver.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const [{ bytes }] = saver.db
        .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
        .all();
      return bytes;
    },
    close: async () => close(),
  };
}

const newCounts = () => ({ bytes: 0, puts: 0, putWrites: 0 });

/** Counts the bytes at the saver's serializer: what it returns is what is stored. */
function counted(saver, close) {
  const counts = newCounts();
  const inner = saver.serde;
  saver.serde = {
    loadsTyped: (type, data) => inner.loadsTyped(type, data),
    dumpsTyped: async (value) => {
      const dumped = await inner.dumpsTyped(value);
      counts.bytes += dumped[1].length;
      return dumped;
    },
  };
  for (const [method, count] of [
    ["put", "puts"],
    ["putWrites", "putWrites"],
  ]) {
    const original = saver[method].bind(saver);
    saver[method] = (...args) => {
      counts[count] += 1;
      return original(...args);
    };
  }
  return { saver, counts, close };
}

/** How large the messages and files of a state are when they are stored once. */
export async function storedSize({ messages, files }) {
  const [, bytes] = await new MemorySaver().serde.dumpsTyped({ messages, files });
  return bytes.length;
}
