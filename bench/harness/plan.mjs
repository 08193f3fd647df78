/** What is measured, and which figure of it stands in which row of the table. */
import { pageWork } from "./page-plan.mjs";
import { serverWork } from "./server-plan.mjs";
import { undoWork } from "./undo-plan.mjs";

const ALL = ["deepwright", "deepagents", "createAgent", "hand"];
const GRAPHS = ["deepwright", "deepagents", "createAgent"];

/**
 * A measurement is a workload with its parameters. Its rows name one metric each; `goal` is the most
 * that metric may be as a ratio to deepagents, `ownGoal` the most it may be by itself. `maxRounds`
 * bounds what is slow or does not vary, `roundsOf` does so for one contender.
 */
export function plan({ quick = false } = {}) {
  const long = quick ? 200 : 500;
  return [
    {
      id: "import",
      workload: "import",
      contenders: ALL,
      rows: [
        cpu("import", "cpu", { goal: 0.75 }),
        wall("import, wall"),
        { label: "import, RSS MB", metric: "rss" },
      ],
    },
    {
      id: "construct",
      workload: "construct",
      params: { agents: quick ? 100 : 300 },
      contenders: GRAPHS,
      rows: [
        cpu("construct an agent", "cpu", { goal: 0.25 }),
        cpu("construct the first", "firstCpu"),
        { label: "heap per agent, KB", metric: "heapKb" },
      ],
    },
    {
      id: "reply",
      workload: "reply",
      params: { runs: quick ? 50 : 100 },
      contenders: ALL,
      rows: [cpu("one-reply invoke, reused agent", "cpu", { goal: 0.5 }), wall("one-reply invoke, wall")],
    },
    {
      id: "first-token",
      workload: "first-token",
      params: { runs: quick ? 30 : 60 },
      contenders: GRAPHS,
      rows: [
        cpu("first token, over the model's own", "cpu", { goal: 0.45 }),
        wall("first token, over the model's own, wall"),
      ],
    },
    turns("none", 10),
    turns("none", 200, { goal: 0.55 }),
    turns("none", 500),
    ...(quick ? [] : [turns("none", 2000, { goal: 0.35 })]),
    ...["memory", "sqlite"].flatMap((saver) => [
      turns(saver, 10),
      turns(saver, long === 200 ? 50 : 200),
      turns(saver, long, { maxRounds: saver === "sqlite" || quick ? 3 : 7 }),
    ]),
    edits(quick ? 50 : 200, { maxRounds: quick ? 2 : 7 }),
    durable(long, "sqlite", { cpuGoal: 1 / 8, bytesGoal: 1 / 150, ownGoal: 3.5 }),
    durable(quick ? 50 : 200, "sqlite", {
      files: 100,
      fileBytes: 10_000,
      cpuGoal: 1 / 8,
      bytesGoal: 1 / 150,
      ownGoal: 2,
    }),
    durable(long, "memory", { rssGoal: 0.25 }),
    durableYielding(long),
    {
      id: "durable-growth",
      workload: "durable",
      params: { turns: 5050, saver: "sqlite", early: [50, 100], late: [5000, 5050], yields: true },
      contenders: ["deepwright"],
      maxRounds: 5,
      rows: [{ label: "growth: turns 5,000–5,050 ÷ 50–100, own SQLite", metric: "growth", ownGoal: 1.5 }],
    },
    {
      id: "cold-open",
      workload: "cold-open",
      params: { messages: quick ? 2_000 : 10_000 },
      contenders: ["deepwright", "deepagents"],
      rows: [
        cpu("open a long thread in a cold process", "cpu", { goal: 1 }),
        wall("open a long thread, wall"),
      ],
    },
    {
      id: "files-5000",
      workload: "many-files",
      params: { files: 5000, turns: 30 },
      contenders: ALL,
      rows: [
        cpu("per turn with 5,000 files in state", "cpu", { goal: 0.15 }),
        cpu("handing 5,000 files in, and out", "aroundCpu"),
      ],
    },
    {
      id: "growth",
      workload: "growth",
      params: { turns: 4000, early: [450, 550], late: [3900, 4000] },
      contenders: quick ? ["deepwright"] : GRAPHS,
      roundsOf: { deepagents: 1, createAgent: 1 },
      maxRounds: quick ? 1 : 7,
      rows: [
        { label: "growth: turns 3,900–4,000 ÷ 450–550", metric: "growth", ownGoal: 1.6 },
        cpu("per turn at turn 4,000", "lateCpu"),
      ],
    },
    {
      id: "heap",
      workload: "heap",
      params: { turns: long },
      maxRounds: 3,
      contenders: ALL,
      rows: [
        { label: `heap per turn held, KB (${long} turns)`, metric: "heldKb" },
        { label: `heap left after letting go, KB`, metric: "leftKb" },
      ],
    },
    ...contextWork(quick),
    ...delegation(),
    ...fileOperations(),
    ...memoryFiles("state"),
    ...memoryFiles("store"),
    ...["command", "file"].map(largeOutput),
    ...osCommands(quick),
    ...undoWork(),
    ...serverWork(quick),
    ...terminalApp(quick),
    ...pageWork(quick),
    {
      id: "counts",
      workload: "counts",
      params: { short: 30, long: 60 },
      maxRounds: 1,
      contenders: GRAPHS,
      rows: [
        { label: "supersteps per turn", metric: "supersteps", ownGoal: 2 },
        { label: "runWithConfig per turn", metric: "runWithConfig" },
        { label: "callback managers per turn", metric: "callbackManagers" },
      ],
    },
  ];
}

function cpu(label, metric, rest) {
  return { label: `${label}, CPU ms`, metric, ...rest };
}

function wall(label) {
  return { label: `${label} ms`, metric: "wall" };
}

const SAVERS = { none: "no saver", memory: "MemorySaver", sqlite: "SQLite" };

/** A thread of small turns. The longest thread of each saver also shows what became of it. */
function turns(saver, count, { goal, maxRounds } = {}) {
  const where = `${count} turns, ${SAVERS[saver]}`;
  const rows = [cpu(`per turn: ${where}`, "cpu", { goal })];
  if (maxRounds !== undefined) rows.push(...threadRows(where));
  return {
    id: `${saver === "none" ? "turns" : saver}-${count}`,
    workload: "thread",
    params: { turns: count, saver },
    contenders: saver === "none" ? ALL : GRAPHS,
    maxRounds,
    rows,
  };
}

/** Edits over 100 files of 10 KB. */
function edits(count, { maxRounds }) {
  const where = `${count} edits, 100 × 10 KB, MemorySaver`;
  return {
    id: `edits-${count}`,
    workload: "thread",
    params: { turns: count, saver: "memory", files: 100, fileBytes: 10_000 },
    contenders: GRAPHS,
    maxRounds,
    rows: [cpu(`per turn: ${where}`, "cpu"), ...threadRows(where)],
  };
}

/** Each package with the saver its users take: own against stock. */
function durable(count, saver, { files, fileBytes, cpuGoal, bytesGoal, ownGoal, rssGoal }) {
  const what = files ? `${count} edits, ${files} × 10 KB` : `${count} turns`;
  const where = `${what}, own against stock ${SAVERS[saver]}`;
  return {
    id: `durable-${saver}-${files ? "edits" : "turns"}-${count}`,
    workload: "durable",
    params: { turns: count, saver, ...(files ? { files, fileBytes } : {}) },
    contenders: ["deepwright", "deepagents"],
    roundsOf: { deepagents: 3 },
    rows: [
      cpu(`per turn: ${where}`, "cpu", { goal: cpuGoal && Number(cpuGoal.toFixed(3)) }),
      { label: `MB written: ${where}`, metric: "megabytes", goal: bytesGoal && Number(bytesGoal.toFixed(5)) },
      { label: `bytes per byte of news: ${where}`, metric: "amplification", ownGoal },
      { label: `MB stored: ${where}`, metric: "storedMegabytes" },
      { label: `RSS MB: ${where}`, metric: "rss", goal: rssGoal },
    ],
  };
}

/** The same with a model that lets the event loop turn before it answers: how long it is kept from doing so. */
function durableYielding(count) {
  const where = `${count} turns, a model that yields, own against stock SQLite`;
  return {
    id: `durable-yielding-turns-${count}`,
    workload: "durable",
    params: { turns: count, saver: "sqlite", yields: true },
    contenders: ["deepwright", "deepagents"],
    roundsOf: { deepagents: 3 },
    rows: [
      cpu(`per turn: ${where}`, "cpu"),
      { label: `longest event-loop stall ms: ${where}`, metric: "stall" },
    ],
  };
}

/** Long threads, large results, skills. */
function contextWork(quick) {
  const contenders = ["deepwright", "deepagents"];
  return [
    {
      id: "long-thread-2000",
      workload: "long-thread",
      params: { messages: 2_000, turns: quick ? 20 : 50 },
      contenders,
      rows: [cpu("a turn at 2,000 messages", "cpu", { goal: 0.42 })],
    },
    {
      id: "offload-10mb",
      workload: "offload",
      params: { megabytes: 10, results: 1, runs: 9 },
      contenders,
      rows: [
        cpu("a result of 10 MB, offloaded", "cpu", { goal: 0.5 }),
        cpu("a result of 10 MB, the first in a process", "first"),
        wall("a result of 10 MB, wall"),
      ],
    },
    {
      id: "offload-20x1mb",
      workload: "offload",
      params: { megabytes: 1, results: 20, saver: "memory" },
      contenders,
      roundsOf: { deepagents: 3 },
      rows: [
        cpu("20 results of 1 MB, own against stock MemorySaver", "cpu", { goal: 0.0667 }),
        { label: "20 results of 1 MB: MB written", metric: "megabytes", goal: 0.0333 },
      ],
    },
    {
      id: "skills-200",
      workload: "skills",
      params: { skills: 200 },
      contenders,
      rows: [
        cpu("200 skills, loaded cold", "coldCpu", { goal: 0.05 }),
        cpu("200 skills, again", "againCpu", { goal: 0.0167 }),
        { label: "200 skills: KB in the checkpoints of a turn", metric: "kilobytes", ownGoal: 1 },
      ],
    },
  ];
}

/** Teams: agents with many subagents, and turns that start many children. */
function delegation() {
  const contenders = ["deepwright", "deepagents"];
  return [
    {
      id: "construct-team-50",
      workload: "construct",
      params: { agents: 30, subagents: 50 },
      contenders,
      rows: [cpu("construct an agent with 50 subagents", "cpu", { goal: 0.06 })],
    },
    ...[100, 500].map((children) => ({
      id: `children-${children}`,
      workload: "children",
      params: { children },
      contenders,
      rows: [cpu(`per child, ${children} at once`, "cpu", { goal: 0.55 })],
    })),
    {
      id: "children-100-files",
      workload: "children",
      params: { children: 100, files: 200, fileBytes: 10_000, saver: "sqlite" },
      contenders,
      roundsOf: { deepagents: 3 },
      rows: [
        cpu("per child, 100 over 200 files, own against stock SQLite", "cpu", { goal: 0.2 }),
        { label: "100 children over 200 files: MB written", metric: "megabytes", goal: 0.01 },
        { label: "100 children: bytes per byte of news", metric: "amplification", ownGoal: 3 },
      ],
    },
  ];
}

const TREE = "20,000 files";

/** Ours against deepagents' backend on a disk; `own` goals compare with ripgrep or plain fs in the same process. */
function fileOperations() {
  const grep = (id, label, rest) => fileOperation(`grep-${id}`, `grep ${label}, ${TREE}`, rest);
  return [
    grep("capped", "a common word, first 500", { goal: 1 / 20 }),
    grep("all", "a common word, all", { over: "rg --json", overGoal: 1.3 }),
    grep("rare", "a rare word", { over: "rg --json" }),
    grep("filter", "a common word in *.ts"),
    grep("rare", "a rare word, without ripgrep", { ripgrep: false, goal: 1 / 15 }),
    grep("capped", "first 500, without ripgrep", { ripgrep: false, goal: 1 / 15 }),
    fileOperation("glob", `glob **/*.ts, ${TREE}`, { goal: 1 / 4, over: "rg --files" }),
    fileOperation("ls", "ls of 10,000 entries", { goal: 1 / 8, over: "readdir" }),
    fileOperation("head", "first 100 lines of 50 MB", { goal: 1 / 50, over: "readFile" }),
    fileOperation("edit", "edit in 10 MB", { goal: 1 / 2.2, over: "readFile and writeFile" }),
  ];
}

function fileOperation(operation, label, { goal, over, overGoal, ripgrep = true } = {}) {
  return {
    id: `disk-${operation}${ripgrep ? "" : "-without-ripgrep"}`,
    workload: "files",
    params: { operation, ripgrep, times: ripgrep ? 5 : 2 },
    contenders: ["deepwright", "deepagents"],
    needsFiles: true,
    rows: [
      { label: `${label}, wall ms`, metric: "wall", goal: goal && Number(goal.toFixed(4)) },
      ...(over ? [{ label: `${label}: ours ÷ ${over}`, metric: "overReference", ownGoal: overGoal }] : []),
      { label: `${label}: longest event-loop stall ms`, metric: "stall", ownGoal: 250 },
    ],
  };
}

function memoryFiles(home) {
  const goals = { grep: 0.1, filtered: 0.1667, glob: 0.1 };
  const labels = { grep: "grep", filtered: "grep in *.ts", glob: "glob **/*.ts" };
  return Object.keys(goals).map((operation) => ({
    id: `${home}-files-${operation}`,
    workload: "memory-files",
    params: { home, operation },
    contenders: ["deepwright", "deepagents"],
    rows: [
      {
        label: `${labels[operation]}, 5,000 files in a ${home}, wall ms`,
        metric: "wall",
        goal: goals[operation],
      },
    ],
  }));
}

function largeOutput(operation) {
  const label = { command: "1 GB of command output", file: "a page and a search of a 2 GB file" }[operation];
  return {
    id: `large-${operation}`,
    workload: "large-output",
    params: { operation },
    contenders: ["deepwright"],
    maxRounds: 3,
    needsFiles: true,
    rows: [{ label: `RSS growth MB: ${label}`, metric: "grownMegabytes", ownGoal: 64 }],
  };
}

/** Where there is `bwrap`: a command in our sandbox against the least that `bwrap` can do. */
function osCommands(quick) {
  if (process.platform !== "linux") return [];
  return [false, true].map((onDirectory) => {
    const label = `a trivial command in the os sandbox${onDirectory ? ", on a directory with control files protected" : ""}`;
    return {
      id: `os-command${onDirectory ? "-directory" : ""}`,
      workload: "os-command",
      params: { commands: quick ? 30 : 100, onDirectory },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [{ label: `${label}: ours ÷ bare bwrap`, metric: "overBare", ownGoal: 2 }, wall(`${label},`)],
    };
  });
}

/** The app in a terminal; Linux only, as its start is measured by the system's account of a process. */
function terminalApp(quick) {
  if (process.platform !== "linux") return [];
  const start = "app: start of the program until the first frame";
  return [
    {
      id: "app-start",
      workload: "app-start",
      params: { starts: quick ? 5 : 11 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        cpu(start, "cpu", { ownGoal: 250 }),
        { label: `${start}, ours ÷ node -e 0`, metric: "overBare", ownGoal: 2.5 },
      ],
    },
    {
      id: "app-frame",
      workload: "app-frame",
      params: { frames: 500 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        cpu("app: a frame at 120 × 40", "cpu", { ownGoal: 4 }),
        { label: "app: a frame at 120 × 40, p99, wall ms", metric: "p99" },
      ],
    },
    {
      id: "app-keys",
      workload: "app-keys",
      params: { keys: 500 },
      contenders: ["deepwright"],
      maxRounds: 1,
      rows: [
        { label: "app: a key on the screen while 16 subagents stream, wall ms", metric: "median" },
        {
          label: "app: a key on the screen while 16 subagents stream, p99 of 500, wall ms",
          metric: "p99",
          ownGoal: 100,
        },
      ],
    },
    {
      id: "app-memory",
      workload: "app-memory",
      params: { messages: 2_000 },
      contenders: ["deepwright"],
      maxRounds: 1,
      rows: [
        {
          label: "app: MB on the heap by 2,000 messages in 24,000 pieces",
          metric: "megabytes",
          ownGoal: 50,
        },
      ],
    },
  ];
}

function threadRows(where) {
  return [
    { label: `MB written: ${where}`, metric: "megabytes", goal: 0.55 },
    { label: `bytes written per byte of news: ${where}`, metric: "amplification" },
    cpu(`getState: ${where}`, "getStateCpu"),
    cpu(`follow-up "hello": ${where}`, "followUpCpu"),
    { label: `follow-up "hello": ${where}, KB written`, metric: "followUpKb" },
  ];
}
