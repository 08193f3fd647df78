/**
 * Twenty tenants of one server, one of them hostile: how long `/ok` takes, how fast the runs of the others are beside it
 * and without it, and how much memory the server takes. Blocks with and without it take turns.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { median } from "../harness/rounds.mjs";
import { newThread, timedRun, withServers } from "./server-process.mjs";

const OTHERS = 19;
const HOSTILE = fileURLToPath(new URL("hostile-tenant.mjs", import.meta.url));

export function measure(_contender, { blocks, seconds }) {
  return withServers(["deepwright-tenants"], async ([server]) => {
    const hostile = await startHostile(server);
    const memory = watchMemory(server);
    try {
      const tenants = Array.from({ length: OTHERS }, (_, index) => tenantOf(server, `tenant-${index}`));
      await block(server, tenants, 2);
      const [alone, beside] = [[], []];
      for (let turn = 0; turn < blocks; turn += 1) {
        alone.push(await block(server, tenants, seconds));
        hostile.send("attack");
        beside.push(await block(server, tenants, seconds));
        hostile.send("rest");
        await once(hostile, "message");
      }
      const rate = (list) => median(list.map((entry) => entry.rate));
      return {
        rate: rate(alone),
        rateBeside: rate(beside),
        slowdown: rate(alone) / rate(beside),
        p99: p99(alone.flatMap(({ looks }) => looks)),
        p99Beside: p99(beside.flatMap(({ looks }) => looks)),
        rss: memory.stop() / 1024 / 1024,
      };
    } finally {
      memory.stop();
      hostile.kill();
    }
  });
}

const tenantOf = (server, key) => ({ ...server, headers: { ...server.headers, "x-api-key": key } });

/** A process of its own, so that its work is not the clock's. It is ready when its threads are full. */
async function startHostile({ url }) {
  const child = fork(HOSTILE, [url], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [message] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (message !== "ready") throw new Error("The hostile tenant could not prepare its threads.");
  return child;
}

/** Each tenant runs one run after the other for so many seconds, while somebody looks at `/ok`. */
async function block(server, tenants, seconds) {
  const end = performance.now() + seconds * 1_000;
  let runs = 0;
  const working = tenants.map(async (tenant) => {
    for (; performance.now() < end; runs += 1) await timedRun(tenant, await newThread(tenant));
  });
  const looks = [];
  while (performance.now() < end) {
    const start = performance.now();
    await (await fetch(`${server.url}/ok`)).text();
    looks.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 10));
  }
  await Promise.all(working);
  return { rate: runs / seconds, looks };
}

function p99(times) {
  return times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1];
}

function watchMemory(server) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, server.rss());
  }, 50);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}
