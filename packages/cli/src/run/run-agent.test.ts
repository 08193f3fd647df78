import { getEventListeners } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, FilesystemBackend } from "deepwright";
import { callTool, fault, type Script, say, scriptedModel } from "deepwright/testing";
import { describe, expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { exitCodeOf } from "./output/run-end.ts";
import { type AgentRun, type RunnableAgent, type RunResult, runAgent, taskInput } from "./run-agent.ts";
import { Stop } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";

/** Runs an agent in a directory with `a.txt`; `files` are those there afterwards. */
async function run(
  script: Script,
  options: object = {},
  more: Partial<AgentRun> = {},
): Promise<RunResult & { files: Record<string, string> }> {
  const rootDir = await directoryWith({ "a.txt": "old" });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const model = scriptedModel(script);
  const agent = createDeepAgent({ model, backend, ...options }) as unknown as RunnableAgent;
  const result = await runAgent({
    agent,
    input: taskInput("Do it"),
    stop: new Stop(),
    onPart: () => {},
    ...more,
  });
  const files: Record<string, string> = {};
  for (const name of await readdir(rootDir)) files[name] = await readFile(join(rootDir, name), "utf8");
  return { ...result, files };
}

describe("runAgent", () => {
  it("leaves no listener at the signal of a run, however often it goes on", async () => {
    const stop = new Stop();
    for (let turn = 0; turn < 12; turn += 1) await run([say("done")], {}, { stop });
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  });

  it("gives the figures and the outcome of the run", async () => {
    const parts: StreamPart[] = [];
    const edit = { file_path: "/a.txt", old_string: "old", new_string: "new" };
    const { end, ledger, files } = await run(
      [{ ...callTool("edit_file", edit), usage: { input_tokens: 10, output_tokens: 2 } }, say("Edited.")],
      {},
      { onPart: (part) => parts.push(part) },
    );
    expect(end).toEqual({ kind: "outcome", outcome: { kind: "done" } });
    expect(files).toEqual({ "a.txt": "new" });
    expect(ledger.toolCalls).toBe(1);
    expect(ledger.usage.input).toBeGreaterThanOrEqual(10);
    expect(new Set(parts.map(({ type }) => type))).toEqual(new Set(["values", "updates", "messages"]));
  });

  it.each([
    ["length", 3],
    ["content_filter", 1],
  ])("a reply stopped by %s ends with %i", async (finishReason, code) => {
    const { end } = await run([{ text: "half", finishReason }]);
    expect(end).toMatchObject({ kind: "outcome", outcome: { kind: finishReason } });
    expect(exitCodeOf(end)).toBe(code);
  });

  it("an empty reply ends with 1", async () => {
    const { end } = await run([say("")], {});
    expect(exitCodeOf(end)).toBe(1);
  });

  it("a question to a person ends with 4", async () => {
    const { end, files } = await run(
      [callTool("write_file", { file_path: "/b.txt", content: "b" })],
      { interruptOn: { write_file: true }, checkpointer: new MemorySaver() },
      { config: { configurable: { thread_id: "1" } } },
    );
    expect(end).toEqual({ kind: "approval", questions: 1 });
    expect(exitCodeOf(end)).toBe(4);
    expect(files).toEqual({ "a.txt": "old" });
  });

  it("a model that fails ends with 1 and keeps what was done before", async () => {
    const { end, files } = await run([
      callTool("write_file", { file_path: "/b.txt", content: "b" }),
      fault.status(401),
    ]);
    expect(end.kind).toBe("failed");
    expect(files).toHaveProperty(["b.txt"], "b");
  });

  it("a stop ends a run that would never end, with the work so far", async () => {
    const stop = new Stop();
    const { end, files } = await run(
      [callTool("write_file", { file_path: "/b.txt", content: "b" }), { never: true }],
      {},
      {
        stop,
        onPart: ({ type, data }) => {
          if (type === "updates" && JSON.stringify(data).includes("Successfully wrote"))
            setTimeout(() => stop.because("SIGINT"), 50);
        },
      },
    );
    expect(end).toEqual({ kind: "stopped", by: "SIGINT" });
    expect(files).toHaveProperty(["b.txt"], "b");
  });

  it("a run that does not listen to a stop is left behind", async () => {
    const stop = new Stop();
    const agent: RunnableAgent = { stream: () => new Promise(() => {}) };
    setTimeout(() => stop.because("timeout"), 10);
    const result = await runAgent({ agent, input: taskInput("x"), stop, onPart: () => {} });
    expect(result.end).toEqual({ kind: "stopped", by: "timeout" });
  });
});
