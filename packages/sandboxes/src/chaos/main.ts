/** `npm run attack`: the attacker of `attack.ts` for as long as wanted. */
import { parseArgs } from "node:util";
import { attack } from "./attack.ts";

const HELP = `npm run attack -- [--minutes N] [--seed N]

Two sandboxes on one directory, every file tool and command: looks for a way out. Default: 30 minutes.
Prints its seed. Exits with 1 when something outside was read, changed or made.`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string" },
    help: { type: "boolean" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Date.now() % 2 ** 31)];
if (values.help || !(minutes > 0) || !Number.isInteger(seed)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
console.log(`seed ${seed}, ${minutes} min`);
const result = await attack(minutes * 60, seed, console.log);
for (const way of result.escapes) console.log(way);
console.log(`${result.rounds} rounds, ${result.calls} calls, ${result.escapes.length} escapes`);
process.exitCode = result.escapes.length === 0 ? 0 : 1;
