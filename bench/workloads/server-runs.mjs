/** Runs over HTTP: how soon the first event comes, how long a run takes, how many are done in a second and at what cost. */
import { median } from "../harness/rounds.mjs";
import { newThread, SERVERS, timedRun, withServers } from "./server-process.mjs";

const WARM_UP = 20;

export function measure(_contender, { single, blocks, blockRuns, atOnce }) {
  return withServers(SERVERS, async (servers) => {
    for (const server of servers) await many(server, WARM_UP, atOnce);
    const times = new Map(servers.map((server) => [server, []]));
    for (let turn = 0; turn < single; turn += 1)
      for (const server of inTurn(servers, turn))
        times.get(server).push(await timedRun(server, await newThread(server)));
    const loads = new Map(servers.map((server) => [server, []]));
    for (let turn = 0; turn < blocks; turn += 1)
      for (const server of inTurn(servers, turn))
        loads.get(server).push(await load(server, blockRuns, atOnce));
    return metricsOf(servers, times, loads);
  });
}

/** Another one first each time. */
const inTurn = (list, turn) => list.map((_, index) => list[(index + turn) % list.length]);

async function load(server, runs, atOnce) {
  const [start, cpu] = [performance.now(), server.cpu()];
  await many(server, runs, atOnce);
  return { rate: (runs * 1_000) / (performance.now() - start), cpu: (server.cpu() - cpu) / runs };
}

async function many(server, runs, atOnce) {
  let left = runs;
  const worker = async () => {
    while (left-- > 0) await timedRun(server, await newThread(server));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function metricsOf(servers, times, loads) {
  const [ours, api, embedded] = servers.map((server) => ({
    ...mediansOf(times.get(server), ["first", "whole"]),
    ...mediansOf(loads.get(server), ["rate", "cpu"]),
  }));
  const named = (prefix, figures) =>
    Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [
        `${prefix}${name[0].toUpperCase()}${name.slice(1)}`,
        value,
      ]),
    );
  return {
    ...ours,
    ...named("api", api),
    ...named("embedded", embedded),
    firstOverApi: ours.first / api.first,
    rateOverApi: ours.rate / api.rate,
    cpuOverApi: ours.cpu / api.cpu,
  };
}

const mediansOf = (list, names) =>
  Object.fromEntries(names.map((name) => [name, median(list.map((entry) => entry[name]))]));
