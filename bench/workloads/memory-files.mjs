/** Searching 5,000 files that are kept in the state of a thread or in a store. */
import { InMemoryStore } from "@langchain/langgraph";
import { median } from "../harness/rounds.mjs";
import { timed } from "./cpu.mjs";
import { RARE } from "./file-tree.mjs";

const FILES = 5_000;

const OPERATIONS = {
  grep: { run: async (backend) => (await backend.grep(RARE, "/")).matches.length, expected: FILES / 25 },
  filtered: {
    run: async (backend) => (await backend.grep(RARE, "/", "*.ts")).matches.length,
    expected: FILES / 50,
  },
  glob: { run: async (backend) => (await backend.glob("**/*.ts", "/")).files.length, expected: FILES / 2 },
};

export async function measure(contender, { home, operation, times = 20 }) {
  const backend = await open(contender, home);
  const { run, expected } = OPERATIONS[operation];
  const walls = [];
  for (let i = 0; i <= times; i += 1) {
    const { result, wall } = await timed(() => run(backend));
    if (result !== expected)
      throw new Error(`${operation} of ${contender}: ${result} instead of ${expected}`);
    if (i > 0) walls.push(wall);
  }
  return { wall: median(walls) };
}

async function open(contender, home) {
  const { StateBackend, StoreBackend } = await import(contender);
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [pathOf(i), fileOf(i)]));
  if (home === "state") return new StateBackend({ state: { files } });
  const store = new InMemoryStore();
  const namespace = ["bench", "filesystem"];
  for (const [path, file] of Object.entries(files)) await store.put(namespace, path, file);
  return new StoreBackend({ state: {}, store }, { namespace });
}

const pathOf = (i) => `/area-${i % 50}/part-${i % 7}/file-${i}.${i % 2 === 0 ? "ts" : "md"}`;

const WORDS = "alpha beta gamma delta request reply server client value index buffer stream parse".split(" ");

function fileOf(i) {
  const words = (line) => Array.from({ length: 7 }, (_, word) => WORDS[(i + line * word) % WORDS.length]);
  const text = Array.from({ length: 60 }, (_, line) => words(line).join(" "));
  if (i % 25 === 0) text[30] = `return ${RARE}(value);`;
  const at = "2026-01-01T00:00:00.000Z";
  return { content: text.join("\n"), mimeType: "text/plain", created_at: at, modified_at: at };
}
