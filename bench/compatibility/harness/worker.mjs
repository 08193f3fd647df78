/** One library's process: `node worker.mjs <folder> <output> <names…>` writes the answers to the output. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const PATIENCE_MS = 120_000;
const [folder, output, ...names] = process.argv.slice(2);
console.log = console.warn = console.info = console.error = () => {};
// A failed program must not end the others.
process.on("unhandledRejection", () => {});

const answers = {};
for (const name of names) answers[name] = await answerOf(name);
writeFileSync(output, JSON.stringify(answers));
process.exit(0);

async function answerOf(name) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    const { default: program } = await import(join(folder, `${name}.mjs`));
    return { value: JSON.parse(JSON.stringify((await Promise.race([program(), late])) ?? null)) };
  } catch (error) {
    return { threw: String(error?.stack ?? error) };
  } finally {
    clearTimeout(timer);
  }
}
