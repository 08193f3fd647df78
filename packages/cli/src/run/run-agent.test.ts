import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, fault, type Script, say, scriptedModel } from "deepwright/testing";
import { describe, expect, it } from "vitest";
import { type AgentRun, type RunnableAgent, type RunResult, runAgent } from "./run-agent.ts";
import { exitCodeOf } from "./run-end.ts";
import { Stop } from "./stop.ts";
import type { StreamPart } from "./stream-part.ts";

const FILE = { content: "old", mimeType: "text/plain", created_at: "", modified_at: "" };

function run(script: Script, options: object = {}, more: Partial<AgentRun> = {}): Promise<RunResult> {
  const agent = createDeepAgent({ model: scriptedModel(script), ...options }) as unknown as RunnableAgent;
  const files = { "/a.txt": FILE };
  return runAgent({ agent, task: "Do it", files, stop: new Stop(), onPart: () => {}, ...more });
}

describe("runAgent", () => {
  it("gives the files, the figures and the outcome of the run", async () => {
    const parts: StreamPart[] = [];
    const edit = { file_path: "/a.txt", old_string: "old", new_string: "new" };
    const { end, ledger } = await run(
      [{ ...callTool("edit_file", edit), usage: { input_tokens: 10, output_tokens: 2 } }, say("Edited.")],
      {},
      { onPart: (part) => parts.push(part) },
    );
    expect(end).toEqual({ kind: "outcome", outcome: { kind: "done" } });
    expect(ledger.files?.["/a.txt"]).toMatchObject({ content: "new" });
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
    const { end, ledger } = await run(
      [callTool("write_file", { file_path: "/b.txt", content: "b" })],
      { interruptOn: { write_file: true }, checkpointer: new MemorySaver() },
      { config: { configurable: { thread_id: "1" } } },
    );
    expect(end).toEqual({ kind: "approval", questions: 1 });
    expect(exitCodeOf(end)).toBe(4);
    expect(ledger.files).not.toHaveProperty("/b.txt");
  });

  it("a model that fails ends with 1 and keeps what was done before", async () => {
    const { end, ledger } = await run([
      callTool("write_file", { file_path: "/b.txt", content: "b" }),
      fault.status(401),
    ]);
    expect(end.kind).toBe("failed");
    expect(ledger.files).toHaveProperty(["/b.txt"]);
  });

  it("a stop ends the run soon, with the work so far", async () => {
    const stop = new Stop();
    const started = Date.now();
    const { end, ledger } = await run(
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
    expect(ledger.files).toHaveProperty(["/b.txt"]);
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  it("a run that does not listen to a stop is left behind", async () => {
    const stop = new Stop();
    const agent: RunnableAgent = { stream: () => new Promise(() => {}) };
    setTimeout(() => stop.because("timeout"), 10);
    const result = await runAgent({ agent, task: "x", files: {}, stop, onPart: () => {} });
    expect(result.end).toEqual({ kind: "stopped", by: "timeout" });
  });
});
