/** `npm run bench`: ours against deepagents, LangChain's createAgent and a hand-written loop. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { claimBench } from "./harness/alone.mjs";
import { buildOurs } from "./harness/build.mjs";
import { plan } from "./harness/plan.mjs";
import { rowOf, tableOf } from "./harness/report.mjs";
import { medians, runRounds } from "./harness/rounds.mjs";
import { BENCH, ensureBenchInstalled } from "./install.mjs";
import { makeFileTree } from "./workloads/file-tree.mjs";

const HELP = `npm run bench -- [options]

  --rounds N     rounds per measurement (default 7, with --quick 3); slow ones have a bound of their own
  --quick        fewer rounds and shorter threads: a few minutes instead of most of an hour
  --only NAME    only the measurement NAME, or those that contain it; may be given several times
  --list         print the names of the measurements
  --json         also write bench/results/<time>.json with every sample
  --gate         exit with code 1 when a goal is missed
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    gate: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

process.exitCode = await main();

async function main() {
  const rounds = Number(options.rounds ?? (options.quick ? 3 : 7));
  const chosen = chosenFrom(plan(options), options.only);
  if (options.help || options.list) {
    process.stdout.write(options.help ? HELP : `${chosen.map(({ id }) => id).join("\n")}\n`);
    return 0;
  }
  if (!Number.isInteger(rounds) || rounds < 1 || chosen.length === 0) {
    process.stderr.write(`Nothing to measure with these options.\n\n${HELP}`);
    return 2;
  }
  await ensureBenchInstalled(log);
  claimBench();
  await buildOurs(log);
  const files = chosen.some(({ needsFiles }) => needsFiles) ? makeFiles() : undefined;
  const results = [];
  try {
    for (const measurement of chosen) results.push(await measured(measurement, rounds));
  } finally {
    files?.remove();
  }
  const rows = results.flatMap((result) => result.rows);
  process.stdout.write(`\n${tableOf(rows)}\n\n${footer(rounds, rows, results)}\n`);
  if (options.json)
    save({ rounds, quick: options.quick, node: process.version, cpu: cpus()[0]?.model, results });
  if (results.some(({ failures }) => Object.keys(failures).length > 0)) return 1;
  return options.gate && rows.some((row) => row.met === false) ? 1 : 0;
}

/** Where they are reaches the measurements through the environment. */
function makeFiles() {
  log("making 30,000 files (250 MB)");
  const files = makeFileTree();
  process.env.DEEPWRIGHT_BENCH_FILES = files.folder;
  return files;
}

/** All of them, those with one of the names, or for what is no name those that contain it. */
function chosenFrom(all, names) {
  if (names.length === 0) return all;
  const isName = (text) => all.some(({ id }) => id === text);
  return all.filter(({ id }) => names.some((text) => (isName(text) ? id === text : id.includes(text))));
}

async function measured(measurement, wanted) {
  const rounds = Math.min(wanted, measurement.maxRounds ?? wanted);
  const { samples, failures } = await runRounds(measurement, rounds, log);
  const middle = medians(samples);
  return {
    id: measurement.id,
    rounds,
    samples,
    failures,
    rows: measurement.rows.map((row) => rowOf(row, middle)),
  };
}

function footer(rounds, rows, results) {
  const goals = rows.filter((row) => row.met !== undefined);
  const lines = [
    `Medians of ${rounds} rounds (fewer: ${fewer(rounds, results)}); one process per figure, contenders interleaved; Node ${process.version}.`,
    `${goals.filter((row) => row.met).length} of ${goals.length} goals met. Goals are ratios to deepagents, "own" ones our figure itself.`,
  ];
  for (const { id, failures } of results)
    for (const [name, reason] of Object.entries(failures)) lines.push(`FAILED ${id} ${name}: ${reason}`);
  return lines.join("\n");
}

function fewer(rounds, results) {
  const bounded = results.flatMap(({ id, samples }) =>
    Object.entries(samples).flatMap(([name, list]) =>
      list.length < rounds ? [`${id} ${name} ${list.length}`] : [],
    ),
  );
  return bounded.join(", ") || "none";
}

function save(report) {
  const folder = join(BENCH, "results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${new Date().toISOString().replaceAll(":", "-").slice(0, 19)}.json`);
  writeFileSync(file, JSON.stringify(report, null, 1));
  log(`wrote ${file}`);
}

function log(line) {
  process.stderr.write(`bench: ${line}\n`);
}
