/** Checkpoints and stores that one library wrote, read by the other: `node bench/compatibility/exchange/run.mjs`. */
import { isDeepStrictEqual } from "node:util";
import { ensureBenchInstalled } from "../../install.mjs";

/** Expects `bench/node_modules` to hold both libraries. Prints a line a case; true when all of them passed. */
export async function runExchange(print = (line) => process.stdout.write(`${line}\n`)) {
  const libraries = { deepagents: await import("deepagents"), deepwright: await import("deepwright") };
  const { storeCases } = await import("./stores.mjs");
  const { threadCases } = await import("./threads.mjs");
  let failures = 0;
  for (const { name, run } of [...storeCases, ...threadCases])
    for (const [from, to] of [
      ["deepagents", "deepwright"],
      ["deepwright", "deepagents"],
      ["deepwright", "deepwright"],
    ]) {
      const wrong = await wrongOf(run, { writer: libraries[from], reader: libraries[to] });
      print(`${wrong.length === 0 ? "pass" : "FAIL"}  ${name}: ${from} → ${to}`);
      for (const line of wrong) print(`        ${line}`);
      if (wrong.length > 0) failures += 1;
    }
  print(failures === 0 ? "exchange: all passed" : `exchange: ${failures} failed`);
  return failures === 0;
}

async function wrongOf(run, roles) {
  try {
    const found = await run(roles);
    return found
      .filter(([, got, wanted]) => !isSame(got, wanted))
      .map(([what, got, wanted]) => `${what}: expected ${shown(wanted)}, got ${shown(got)}`);
  } catch (error) {
    return [error?.stack ?? String(error)];
  }
}

/** A `Buffer` is as good as other bytes. */
function isSame(got, wanted) {
  if (got instanceof Uint8Array && wanted instanceof Uint8Array) return Buffer.compare(got, wanted) === 0;
  return isDeepStrictEqual(got, wanted);
}

function shown(value) {
  return value instanceof Uint8Array ? `bytes ${[...value].join(" ")}` : JSON.stringify(value);
}

if (process.argv[1] === import.meta.filename) {
  await ensureBenchInstalled();
  const { buildOurs } = await import("../../harness/build.mjs");
  await buildOurs((line) => process.stderr.write(`exchange: ${line}\n`));
  process.exitCode = (await runExchange()) ? 0 : 1;
}
