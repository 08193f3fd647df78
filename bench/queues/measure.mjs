/**
 * The table of docs/decisions/015: how soon a wake-up is heard, for queues on one Postgres that is started for it.
 * `node bench/queues/measure.mjs`; the first use installs the queues into `bench/queues/node_modules`.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../../scripts/test-postgres.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ONE_BY_ONE = 100;
const MANY = 1_000;
const AT_ONCE = 50;

const [, , contender, url] = process.argv;
if (contender === undefined) await printTable();
else await measure(contender, url);

/** Each in a process and a database of its own. */
async function printTable() {
  install();
  const { CONTENDERS } = await import("./contenders.mjs");
  const postgres = await startPostgres({ own: true });
  try {
    console.log("| | p50 | p99 | 1,000 heard in | of that sending |\n|---|---|---|---|---|");
    for (const [index, name] of Object.keys(CONTENDERS).entries()) {
      const database = new URL(postgres.url);
      await createDatabase(postgres.url, `queue_${index}`);
      database.pathname = `/queue_${index}`;
      await new Promise((done, fail) => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), name, database.href], {
          stdio: ["ignore", "inherit", "inherit"],
        });
        child.once("error", fail);
        child.once("exit", (code) => (code === 0 ? done() : fail(new Error(`${name} ended with ${code}.`))));
      });
    }
  } finally {
    await postgres.stop();
  }
}

function install() {
  if (existsSync(join(HERE, "node_modules", "graphile-worker"))) return;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, error } = spawnSync("npm", args, { cwd: HERE, stdio: ["ignore", 2, 2] });
  if (error ?? status !== 0) throw error ?? new Error(`npm ci in ${HERE} ended with code ${status}.`);
}

async function createDatabase(server, name) {
  const { createRequire } = await import("node:module");
  const { Client } = createRequire(import.meta.url)("pg");
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
}

async function measure(name, database) {
  const { CONTENDERS } = await import("./contenders.mjs");
  const waiting = new Map();
  const queue = await CONTENDERS[name](database, (thread) => waiting.get(thread)?.());
  const hearing = (thread) => new Promise((heard) => waiting.set(thread, heard));
  const wake = async (thread) => {
    const began = performance.now();
    const heard = hearing(thread);
    await queue.send(thread);
    await heard;
    return performance.now() - began;
  };
  for (let n = 0; n < 5; n += 1) await wake(`warm-${n}`);
  const times = [];
  for (let n = 0; n < ONE_BY_ONE; n += 1) times.push(await wake(`one-${n}`));
  times.sort((left, right) => left - right);
  const began = performance.now();
  const all = Array.from({ length: MANY }, (_, n) => hearing(`many-${n}`));
  for (let n = 0; n < MANY; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => queue.send(`many-${n + k}`)));
  const sent = performance.now() - began;
  await Promise.all(all);
  const seconds = (milliseconds) => `${(milliseconds / 1_000).toFixed(1)} s`;
  const share = (part) =>
    `${Math.round(times[Math.min(times.length - 1, Math.floor(times.length * part))])} ms`;
  console.log(
    `| ${name} | ${share(0.5)} | ${share(0.99)} | ${seconds(performance.now() - began)} | ${seconds(sent)} |`,
  );
  await queue.close();
  process.exit(0);
}
