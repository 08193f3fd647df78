// Runs everything that must hold: lint, types, tests. One command, from a fresh clone. `--help` lists its forms.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBenchInstalled } from "../bench/install.mjs";
import { ensureDevelopmentTools } from "./install.mjs";
import { ensureSystemPrograms } from "./test-system.mjs";

const HELP = `npm test                    lint, layers, types and all tests (about 17 minutes on two cores)
npm test -- path …          the tests whose path contains one of these
npm run test:quick          lint, types and the tests nearest to uncommitted changes (under 90 s)
npm run test:quick -- path  the same for these files or folders
npm run test:long           everything at full size, long tests and chaos (before a release)

TEST_RECORD_TIMES=1 npm test writes the time of each file to scripts/test-times.json, which orders the
files and tells how long a run will take.`;

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const options = process.argv.slice(2).filter((word) => word.startsWith("-"));
const paths = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const unknown = options.filter((word) => !["--help", "-h", "--quick", "--long"].includes(word));
if (options.includes("--help") || options.includes("-h") || unknown.length > 0) {
  if (unknown.length > 0) console.error(`Unknown option ${unknown[0]}.\n`);
  console.log(HELP);
  process.exit(unknown.length > 0 ? 2 : 0);
}

ensureSystemPrograms();
await Promise.all([ensureDevelopmentTools(), ensureBenchInstalled(console.log)]);
(await import("./test-postgres.mjs")).findPostgres();
const { runSteps } = await import("./test-steps.mjs");
const form = options.includes("--quick") ? "quick" : options.includes("--long") ? "long" : "all";
process.exit(await runSteps(form, paths));
