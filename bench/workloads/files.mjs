/** One operation of a backend on the generated files: wall time, CPU, and how long the event loop stood still. */
import { spawn } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { median } from "../harness/rounds.mjs";
import { timed } from "./cpu.mjs";
import { COMMON, EXPECTED, RARE } from "./file-tree.mjs";

const { rgPath } = createRequire(import.meta.url)("@vscode/ripgrep");

/** Each answers a number that is checked; `reference` is what the operation is compared with in the same process. */
const OPERATIONS = {
  "grep-capped": { run: ({ tree }) => found(tree.grep(COMMON, "/", null, 500)), expected: 500 },
  "grep-all": {
    run: ({ tree }) => found(tree.grep(COMMON, "/")),
    expected: EXPECTED.common,
    reference: (folder) => ripgrep(folder, ["--json", "-F", "--", COMMON, "."]),
  },
  "grep-rare": {
    run: ({ tree }) => found(tree.grep(RARE, "/")),
    expected: EXPECTED.rare,
    reference: (folder) => ripgrep(folder, ["--json", "-F", "--", RARE, "."]),
  },
  "grep-filter": {
    run: ({ tree }) => found(tree.grep(COMMON, "/", "*.ts")),
    expected: EXPECTED.typescript * 2,
  },
  glob: {
    run: ({ tree }) => listed(tree.glob("**/*.ts", "/")),
    expected: EXPECTED.typescript,
    reference: (folder) => ripgrep(folder, ["--files", "-g", "*.ts", "."]),
  },
  ls: {
    run: ({ flat }) => listed(flat.ls("/")),
    expected: EXPECTED.flat,
    reference: async (folder) => void readdirSync(join(folder, "..", "flat"), { withFileTypes: true }),
  },
  head: {
    run: async ({ large }) => (await large.read("/big.txt", 0, 100)).content.split("\n", 100).length,
    expected: 100,
    reference: async (folder) => void readFileSync(join(folder, "..", "large", "big.txt"), "utf8"),
  },
  edit: {
    run: async ({ large, edited, turn }) =>
      (await large.edit(`/${edited}`, turn("the only line like this"), turn.next())).occurrences,
    expected: 1,
    reference: async (folder) => {
      const file = join(folder, "..", "large", "edit.txt");
      writeFileSync(file, readFileSync(file));
    },
  },
};

export async function measure(contender, { operation, ripgrep: withRipgrep = true, times = 5 }) {
  const folder = join(process.env.DEEPWRIGHT_BENCH_FILES, "tree");
  process.env.PATH = withRipgrep ? `${dirname(rgPath)}:/usr/bin:/bin` : "/nonexistent";
  const { run, expected, reference } = OPERATIONS[operation];
  const backends = await open(contender, process.env.DEEPWRIGHT_BENCH_FILES);
  const samples = { wall: [], cpu: [], stall: [] };
  for (let i = 0; i <= times; i += 1) {
    const { result, wall, cpu, stall } = await watched(() => run(backends));
    if (result !== expected)
      throw new Error(`${operation} of ${contender}: ${result} instead of ${expected}`);
    if (i === 0) continue;
    samples.wall.push(wall);
    samples.cpu.push(cpu);
    samples.stall.push(stall);
  }
  const wall = median(samples.wall);
  const isCompared = reference !== undefined && contender === "deepwright";
  const overReference = isCompared ? wall / (await referenceWall(() => reference(folder), times)) : undefined;
  return { wall, cpu: median(samples.cpu), stall: Math.max(...samples.stall), overReference };
}

/** Afterwards, not in between: what it writes would keep the disk busy under us, and under nobody else. */
async function referenceWall(reference, times) {
  const walls = [];
  for (let i = 0; i <= times; i += 1) {
    const { wall } = await timed(reference);
    if (i > 0) walls.push(wall);
  }
  return median(walls);
}

async function open(contender, folder) {
  const { FilesystemBackend } = await import(contender);
  const at = (name) => new FilesystemBackend({ rootDir: join(folder, name), virtualMode: true });
  const edited = `edit-${process.pid}.txt`;
  copyFileSync(join(folder, "large", "edit.txt"), join(folder, "large", edited));
  return { tree: at("tree"), flat: at("flat"), large: at("large"), edited, turn: turnOf() };
}

/** Every edit replaces what the last one left. */
function turnOf() {
  let count = 0;
  const text = (first) => (count === 0 ? first : `edited ${count} times`);
  return Object.assign(text, { next: () => `edited ${++count} times` });
}

/** The longest time between two turns of the event loop while `work` ran, beside what it cost. */
async function watched(work) {
  let last = performance.now();
  let stall = 0;
  const look = () => {
    const now = performance.now();
    stall = Math.max(stall, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  const outcome = await timed(work);
  look();
  clearInterval(timer);
  return { ...outcome, stall };
}

async function found(result) {
  return (await result).matches?.length;
}

async function listed(result) {
  return (await result).files?.length;
}

/** Runs it and reads all it says. */
function ripgrep(cwd, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.on("data", () => {});
    child.on("error", reject);
    child.on("close", resolve);
  });
}
