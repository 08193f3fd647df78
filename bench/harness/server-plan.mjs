/** What is measured of servers. They are started and asked by one process, in turn, so all figures stand in our column. */

const API = "langgraph-api";
const EMBEDDED = "langgraph-api embedded, in memory";

export function serverWork(quick) {
  return [
    {
      id: "server-runs",
      workload: "server-runs",
      params: { single: quick ? 20 : 50, blocks: quick ? 2 : 4, blockRuns: quick ? 60 : 100, atOnce: 16 },
      contenders: ["deepwright"],
      maxRounds: 5,
      rows: [
        ...three("server: first event of a run, ms", "first"),
        { label: `server: first event, ours ÷ ${API}`, metric: "firstOverApi" },
        ...three("server: a whole run, ms", "whole"),
        ...three("server: runs per second, 16 at once", "rate"),
        { label: `server: runs per second, ours ÷ ${API}`, metric: "rateOverApi" },
        ...three("server: CPU of the server for a run, ms", "cpu"),
        { label: `server: CPU for a run, ours ÷ ${API}`, metric: "cpuOverApi" },
      ],
    },
    {
      id: "server-idle",
      workload: "server-idle",
      params: { readers: quick ? 500 : 1_000, runs: 200, looks: 200 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        { label: "server: KB for an idle stream", metric: "kb", ownGoal: 50 },
        { label: `server: KB for an idle stream, ${API}`, metric: "apiKb" },
        { label: "server: /ok beside 200 runs, p99, ms", metric: "p99", ownGoal: 1_000 },
        { label: `server: /ok beside 200 runs, p99, ms, ${API}`, metric: "apiP99" },
      ],
    },
    {
      id: "server-tenants",
      workload: "server-tenants",
      params: { blocks: quick ? 2 : 4, seconds: quick ? 5 : 15 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        { label: "server: runs per second of 19 tenants", metric: "rate" },
        { label: "server: runs per second beside a hostile tenant", metric: "rateBeside" },
        { label: "server: alone ÷ beside a hostile tenant", metric: "slowdown", ownGoal: 1.25 },
        { label: "server: /ok beside 19 tenants, p99, ms", metric: "p99" },
        { label: "server: /ok beside a hostile tenant, p99, ms", metric: "p99Beside", ownGoal: 250 },
        { label: "server: memory beside a hostile tenant, MB", metric: "rss", ownGoal: 1_000 },
      ],
    },
  ];
}

function three(label, metric) {
  const named = `${metric[0].toUpperCase()}${metric.slice(1)}`;
  return [
    { label, metric },
    { label: `${label}, ${API}`, metric: `api${named}` },
    { label: `${label}, ${EMBEDDED}`, metric: `embedded${named}` },
  ];
}
