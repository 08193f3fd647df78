import { describe, expect, it } from "vitest";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import type { StageTask } from "../loop/contract/stages.ts";
import { saveText } from "./save-text.ts";

const task = { config: {}, signal: undefined, runtime: { state: {} } } as unknown as StageTask;
const place = { area: "large_tool_results", id: "call_0" } as const;

describe("a text that is kept", () => {
  it("has a file of its own, however many threads number their calls alike", async () => {
    const backend = new MapBackend();
    const paths = new Set<string>();
    for (let thread = 0; thread < 150; thread += 1) {
      const { path } = await saveText(backend, task, place, `result of thread ${thread}`);
      const read = await backend.readRaw(path as string);
      expect(read.data?.content).toBe(`result of thread ${thread}`);
      paths.add(path as string);
    }
    expect(paths.size).toBe(150);
  });

  it("has one file when it is kept again", async () => {
    const backend = new MapBackend();
    const first = await saveText(backend, task, place, "one");
    await saveText(backend, task, place, "two");
    expect(await saveText(backend, task, place, "one")).toEqual(first);
    const again = await saveText(backend, task, place, "two");
    expect(again.path).not.toBe(first.path);
    expect((await backend.ls("/large_tool_results")).files?.length).toBe(2);
  });
});
