/** `npm run eval`: level 0 for Deepwright, deepagents and LangChain's createAgent. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "../scripts/bundle.mjs";
import { BENCH, ensureBenchInstalled } from "./install.mjs";

const HELP = `npm run eval -- [options]

  --only NAME    only the category NAME, or those that contain it; may be given several times
  --out FOLDER   where evals.html and evals.json go (default bench/results)
  --features     instead: Deepwright alone, with one feature switched off at a time
`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    out: { type: "string", default: join(BENCH, "results") },
    features: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

process.exit(await main());

async function main() {
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  await ensureBenchInstalled(log);
  await build();
  const evals = await import("@deepwright/evals");
  const suites = evals.BUILT_IN_SUITES.filter(
    ({ category }) => options.only.length === 0 || options.only.some((name) => category.includes(name)),
  );
  const harnesses = options.features ? evals.featureHarnesses() : await contenders(evals);
  const report = await evals.runEvals({
    suites,
    harnesses,
    models: [evals.scriptedSource],
    onRecord: (_, { done, of }) => {
      if (done % 100 === 0 || done === of) log(`${done} of ${of} trials`);
    },
  });
  process.stdout.write(`\n${options.features ? evals.featureTable(report) : evals.tableOf(report)}\n`);
  save(evals, report, options.features ? "features" : "evals");
  return 0;
}

async function contenders({ deepwrightHarness }) {
  const [{ deepagents }, { createAgent }] = await Promise.all([
    import("./evals/deepagents.mjs"),
    import("./evals/create-agent.mjs"),
  ]);
  const { version } = JSON.parse(readFileSync(join(BENCH, "..", "packages", "core", "package.json"), "utf8"));
  return [deepwrightHarness({ version, retryWait: "none" }), deepagents, createAgent];
}

/** Our packages as they are published, beside the same copy of LangChain that the peers use. */
async function build() {
  for (const name of ["core", "checkpoint", "sandboxes", "evals"])
    await install(`packages/${name}`, join(BENCH, "node_modules"), join(BENCH, ".."));
}

function save({ htmlOf }, report, name) {
  mkdirSync(options.out, { recursive: true });
  for (const [ending, text] of [
    ["json", JSON.stringify(report, null, 1)],
    ["html", htmlOf(report)],
  ]) {
    const file = join(options.out, `${name}.${ending}`);
    writeFileSync(file, text);
    log(`wrote ${file}`);
  }
}

function log(line) {
  process.stderr.write(`eval: ${line}\n`);
}
