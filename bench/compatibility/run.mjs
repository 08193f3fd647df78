/** `npm run compat`: the same programs on deepagents and on ours, and what they answer. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ensureDevelopmentTools } from "../../scripts/install.mjs";
import { claimBench } from "../harness/alone.mjs";
import { BENCH, ensureBenchInstalled } from "../install.mjs";

const HERE = join(BENCH, "compatibility");
const EXCHANGE = join(HERE, "exchange", "run.mjs");
const HELP = `npm run compat -- [options]

  --only NAME    only programs whose name contains NAME; may be given several times
  --show         print what both libraries answered where they differ
`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    show: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

process.exitCode = options.help ? help() : await main();

function help() {
  process.stdout.write(HELP);
  return 0;
}

async function main() {
  await ensureDevelopmentTools();
  await ensureBenchInstalled();
  claimBench();
  const { buildOurs } = await import("../harness/build.mjs");
  const { buildPrograms, typeErrors } = await import("./harness/build.mjs");
  const { answersOf } = await import("./harness/answers.mjs");
  const { compare, isFailure, tableOf } = await import("./harness/compare.mjs");
  await buildOurs((line) => process.stderr.write(`compat: ${line}\n`));

  const names = programNames();
  const scratch = mkdtempSync(join(tmpdir(), "compat-"));
  try {
    const built = await buildPrograms(names);
    const types = await typeErrors();
    const theirs = await answersOf(built.deepagents, names, join(scratch, "deepagents"));
    const ours = await answersOf(built.deepwright, names, join(scratch, "deepwright"));
    const listed = JSON.parse(readFileSync(join(HERE, "differences.json"), "utf8"));
    const rows = names.map((name) => compare({ name, theirs, ours, types, listed }));
    process.stdout.write(tableOf(rows, options.show));
    const exchanged = await exchange();
    return rows.some(isFailure) || !exchanged ? 1 : 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function programNames() {
  const folder = join(HERE, "programs");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && file.name.endsWith(".ts"))
    .map((file) => relative(folder, join(file.parentPath, file.name)).slice(0, -".ts".length))
    .filter((name) => options.only.length === 0 || options.only.some((part) => name.includes(part)))
    .sort();
}

/** Checkpoints and stores that one library writes and the other reads. */
async function exchange() {
  if (options.only.length > 0 || !existsSync(EXCHANGE)) return true;
  const { runExchange } = await import(EXCHANGE);
  return (await runExchange()) !== false;
}
