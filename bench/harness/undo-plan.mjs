/** Rows about snapshots of directories; Linux only, as `find -printf` is. */
const TREE = "20,000 files, 200 MB";

export function undoWork() {
  if (process.platform !== "linux") return [];
  const own = { workload: "undo", contenders: ["deepwright"], needsFiles: true, maxRounds: 3 };
  return [
    {
      ...own,
      id: "undo-command",
      params: { what: "later" },
      rows: [
        { label: `a command that changes nothing: two looks, ${TREE}, CPU ms`, metric: "cpu" },
        { label: "a command that changes nothing: ours ÷ find -printf", metric: "overFind", ownGoal: 2 },
        { label: "a command that changes 1 MB: store grows by, ÷ bytes", metric: "growth", ownGoal: 1.3 },
        { label: "7 commands: heap they keep, MB", metric: "heldMb", ownGoal: 1 },
      ],
    },
    {
      ...own,
      id: "undo-first",
      params: { what: "first" },
      rows: [
        { label: `the first snapshot, ${TREE}, CPU ms`, metric: "cpu" },
        { label: "the first snapshot: ours ÷ cp -a", metric: "overCopy", ownGoal: 3 },
        { label: "the first snapshot: store grows by, ÷ bytes", metric: "growth", ownGoal: 1.3 },
        { label: "the first snapshot: highest RSS, MB", metric: "rss" },
      ],
    },
  ];
}
