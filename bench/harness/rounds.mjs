/** Runs measurements: one fresh process each, the contenders interleaved round by round. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { BENCH } from "../install.mjs";

const TIME_LIMIT = 15 * 60_000;

/**
 * Measures every contender `rounds` times. Each round starts with another contender, so that none of
 * them always runs right after the same neighbour. A contender that failed is not tried again.
 */
export async function runRounds(measurement, rounds, log) {
  const samples = Object.fromEntries(measurement.contenders.map((name) => [name, []]));
  const failures = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [i] of measurement.contenders.entries()) {
      const name = measurement.contenders[(i + round) % measurement.contenders.length];
      if (failures[name] || round >= (measurement.roundsOf?.[name] ?? rounds)) continue;
      const started = Date.now();
      const sample = await measureOnce(measurement, name).catch((error) => ({ failed: error.message }));
      const took = ((Date.now() - started) / 1000).toFixed(1);
      if (sample.failed) failures[name] = sample.failed;
      else samples[name].push(sample);
      log(
        `${measurement.id}  round ${round + 1}/${rounds}  ${name}  ${took} s${sample.failed ? `  FAILED: ${sample.failed}` : ""}`,
      );
    }
  }
  return { samples, failures };
}

function measureOnce({ workload, params }, contender) {
  const job = JSON.stringify({ workload, contender, params });
  const child = spawn(process.execPath, ["--expose-gc", join(BENCH, "measure.mjs"), job], {
    cwd: BENCH,
    env: quietEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIME_LIMIT,
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) child[stream].on("data", (data) => (output[stream] += data));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(JSON.parse(output.stdout.trim().split("\n").at(-1)));
      else reject(new Error(reasonOf(output.stderr) ?? `ended with ${signal ?? code}`));
    });
  });
}

/** Without tracing: a key in the caller's environment must not send runs anywhere. */
function quietEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(LANGCHAIN|LANGSMITH|NODE_OPTIONS)/.test(name),
  );
  return Object.fromEntries(kept);
}

function reasonOf(stderr) {
  const lines = stderr.trim().split("\n");
  return lines.find((line) => /^\w*(Error|Violation)\b/.test(line)) ?? lines.find((line) => line !== "");
}

export function median(numbers) {
  if (numbers.length === 0) return undefined;
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of each metric, for each contender. */
export function medians(samples) {
  return Object.fromEntries(
    Object.entries(samples).map(([name, list]) => {
      const metrics = Object.keys(list[0] ?? {});
      return [
        name,
        Object.fromEntries(metrics.map((key) => [key, median(list.map((sample) => sample[key]))])),
      ];
    }),
  );
}
