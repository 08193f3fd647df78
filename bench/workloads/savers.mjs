/** The stock savers, with a count of what is written through them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph-checkpoint";

/** `{ saver, counts, close }`; for "none" the saver is undefined and the counts stay 0. */
export async function openSaver(kind) {
  if (kind === "none") return { counts: newCounts(), close() {} };
  if (kind === "memory") return counted(new MemorySaver(), () => {});
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  const folder = mkdtempSync(join(tmpdir(), "deepwright-bench-"));
  const saver = SqliteSaver.fromConnString(join(folder, "threads.db"));
  return counted(saver, () => {
    saver.db.close();
    rmSync(folder, { recursive: true });
  });
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
