/** The files the file measurements work on: made once per bench run, removed at its end. */
import { closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FOLDERS = 200;
const FILES_PER_FOLDER = 100;
const FLAT_FILES = 10_000;
const ENDINGS = [
  "ts",
  "ts",
  "ts",
  "ts",
  "ts",
  "ts",
  "ts",
  "js",
  "js",
  "js",
  "js",
  "md",
  "md",
  "md",
  "json",
  "json",
  "py",
  "py",
  "css",
  "txt",
];
const WORDS =
  "alpha beta gamma delta request reply server client value index buffer stream parse render update commit branch merge filter reduce".split(
    " ",
  );

/** What a search must find; each measurement checks it. */
export const EXPECTED = {
  files: FOLDERS * FILES_PER_FOLDER,
  typescript: (FOLDERS * FILES_PER_FOLDER * 7) / 20,
  common: FOLDERS * FILES_PER_FOLDER * 2,
  rare: FOLDERS / 10,
  flat: FLAT_FILES,
};
export const COMMON = "handleRequest(";
export const RARE = "needleInTheHaystack";

/** Answers the folder: `tree` (20,000 files, 200 MB), `flat` (10,000 files), `big.txt` (50 MB), `edit.txt` (10 MB), `sparse.txt` (2 GB). */
export function makeFileTree() {
  const folder = mkdtempSync(join(tmpdir(), "deepwright-bench-files-"));
  makeTree(join(folder, "tree"));
  mkdirSync(join(folder, "flat"));
  for (let i = 0; i < FLAT_FILES; i += 1) writeFileSync(join(folder, "flat", `file-${i}.txt`), `file ${i}\n`);
  mkdirSync(join(folder, "large"));
  writeFileSync(join(folder, "large", "big.txt"), lines(50_000_000));
  writeFileSync(
    join(folder, "large", "edit.txt"),
    `${lines(5_000_000)}the only line like this\n${lines(5_000_000)}`,
  );
  const sparse = openSync(join(folder, "large", "sparse.txt"), "w");
  writeFileSync(sparse, lines(1_000_000));
  ftruncateSync(sparse, 2 ** 31);
  closeSync(sparse);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function makeTree(folder) {
  const random = generator(42);
  for (let d = 0; d < FOLDERS; d += 1) {
    const directory = join(folder, `area-${d % 20}`, `part-${d}`);
    mkdirSync(directory, { recursive: true });
    for (let f = 0; f < FILES_PER_FOLDER; f += 1) {
      const name = `module-${f}.${ENDINGS[f % ENDINGS.length]}`;
      writeFileSync(join(directory, name), fileText(random, d, f));
    }
  }
}

function fileText(random, d, f) {
  const body = [];
  const amount = 40 + Math.floor(random() * 320);
  for (let i = 0; i < amount; i += 1) body.push(line(random));
  body[Math.floor(amount / 3)] = `export function ${COMMON}${WORDS[f % WORDS.length]}) {`;
  body[Math.floor(amount / 2)] = `  return ${COMMON}value, ${d});`;
  if (f === 50 && d % 10 === 0) body[10] = `// ${RARE}`;
  return `${body.join("\n")}\n`;
}

function line(random) {
  let text = "  ";
  const words = 4 + Math.floor(random() * 8);
  for (let i = 0; i < words; i += 1) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
  return text.trimEnd();
}

function lines(bytes) {
  const random = generator(7);
  const parts = [];
  for (let size = 0; size < bytes; ) {
    const text = `${line(random)}\n`;
    parts.push(text);
    size += text.length;
  }
  return parts.join("");
}

/** The same numbers on every machine. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
