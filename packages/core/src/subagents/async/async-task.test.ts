import { describe, expect, test } from "vitest";
import { type AsyncTask, mergeAsyncTasks } from "./async-task.ts";

const task = (change: Partial<AsyncTask> = {}): AsyncTask => ({
  taskId: "t",
  agentName: "a",
  threadId: "t",
  runId: "r1",
  status: "running",
  createdAt: "2026-01-01T00:00:00.000Z",
  ...change,
});
const merged = (known: AsyncTask, news: AsyncTask) => mergeAsyncTasks({ t: known }, { t: news }).t;

describe("the channel of tasks", () => {
  test("puts what calls say of different tasks side by side", () => {
    const both = mergeAsyncTasks({ t: task() }, { u: task({ taskId: "u" }) });
    expect(Object.keys(both)).toEqual(["t", "u"]);
    expect(mergeAsyncTasks(both, undefined)).toBe(both);
  });

  test.each<[string, Partial<AsyncTask>, Partial<AsyncTask>, Partial<AsyncTask>]>([
    ["a newer status counts", {}, { status: "success" }, { status: "success" }],
    ["what was cancelled stays so", { status: "cancelled" }, { status: "running" }, { status: "cancelled" }],
    [
      "what could not be reached may work after all",
      { status: "error" },
      { status: "running" },
      { status: "running" },
    ],
    [
      "a new run begins anew",
      { status: "success" },
      { runId: "r2", status: "updated", updates: 1 },
      { runId: "r2", status: "updated" },
    ],
    [
      "a late word about an earlier run is no news",
      { runId: "r2", status: "updated", updates: 1 },
      { status: "interrupted" },
      { runId: "r2", status: "updated" },
    ],
    [
      "what was told stays told",
      { reportedRunId: "r1" },
      { status: "success" },
      { status: "success", reportedRunId: "r1" },
    ],
  ])("%s", (_, known, news, result) => {
    expect(merged(task(known), task(news))).toMatchObject(result);
  });

  test("holds plain JSON", () => {
    const tasks = mergeAsyncTasks(undefined, { t: task({ updates: 2 }) });
    expect(JSON.parse(JSON.stringify(tasks))).toEqual(tasks);
  });
});
