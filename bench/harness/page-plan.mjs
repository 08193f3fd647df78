/** What is measured of the page in Chromium. A frame is a task of its main thread, in processor time. */

export function pageWork(quick) {
  const longThread = "page: a thread of 10,000 messages";
  return [
    {
      id: "page-thread",
      workload: "page",
      params: { what: "thread", messages: 10_000, characters: quick ? 4_000 : 20_000 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        { label: `${longThread} opens, main thread ms`, metric: "open", ownGoal: 1_000 },
        { label: `${longThread}: an append, main thread ms`, metric: "append", ownGoal: 8 },
        { label: `${longThread}: longest frame while it streams, ms`, metric: "longest", ownGoal: 50 },
        { label: `${longThread}: longest frame, wall ms`, metric: "longestWall" },
      ],
    },
    {
      id: "page-team",
      workload: "page",
      params: { what: "team", agents: 16, characters: quick ? 4_000 : 20_000 },
      contenders: ["deepwright"],
      maxRounds: 3,
      rows: [
        { label: "page: longest frame while 16 subagents stream, ms", metric: "longest", ownGoal: 50 },
        { label: "page: longest frame while 16 subagents stream, wall ms", metric: "longestWall" },
        { label: "page: main thread busy while 16 subagents stream, %", metric: "share" },
      ],
    },
  ];
}
