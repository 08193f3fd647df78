import type { ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { ExecuteOptions, ExecuteResponse, SandboxBackendProtocol } from "../backends/backend.ts";
import { SandboxError } from "../backends/sandbox-error.ts";
import { StateBackend } from "../backends/state/state.ts";
import { createExecuteTool, type ExecuteToolOptions } from "./execute.ts";

const ok: ExecuteResponse = { output: "", exitCode: 0, truncated: false };

/** Answers what it is told to, and remembers how it was asked. */
class AnsweringSandbox extends StateBackend implements SandboxBackendProtocol {
  readonly id = "answering";
  readonly asked: [string, ExecuteOptions | undefined][] = [];
  readonly #answer: () => ExecuteResponse;

  constructor(answer: () => ExecuteResponse) {
    super();
    this.#answer = answer;
  }

  async execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    this.asked.push([command, options]);
    return this.#answer();
  }
}

async function ask(
  response: Partial<ExecuteResponse> | Error,
  args: Record<string, unknown> = { command: "x" },
  options: Partial<ExecuteToolOptions> = {},
): Promise<ToolMessage & { asked: AnsweringSandbox["asked"] }> {
  const backend = new AnsweringSandbox(() => {
    if (response instanceof Error) throw response;
    return { ...ok, ...response };
  });
  const tool = createExecuteTool({ backend: () => backend, ...options });
  const call = { name: "execute", args, id: "1", type: "tool_call" };
  const answer = await tool.invoke(call as never, { toolCallId: "1" } as never);
  return Object.assign(answer as unknown as ToolMessage, { asked: backend.asked });
}

describe("execute", () => {
  it.each<[string, Partial<ExecuteResponse>, string, string]>([
    ["output and success", { output: "hi\n" }, "success", "hi\n[Succeeded: exit code 0]"],
    [
      "a last line without an end",
      { output: "\u001b[1mhi" },
      "success",
      "\u001b[1mhi\n[Succeeded: exit code 0]",
    ],
    ["no output", {}, "success", "(no output)\n[Succeeded: exit code 0]"],
    ["a failure", { output: "no\n", exitCode: 2 }, "error", "no\n[Failed: exit code 2]"],
    [
      "a signal",
      { exitCode: 137, signal: "SIGKILL" },
      "error",
      "(no output)\n[Ended by SIGKILL: exit code 137]",
    ],
    ["a time-out of the command's own", { exitCode: 124 }, "error", "(no output)\n[Failed: exit code 124]"],
    ["an unknown end", { output: "a", exitCode: null }, "success", "a\n[Ended; its exit code is not known]"],
    [
      "output with a gap",
      { output: "a\n[… 5 bytes left out …]\nb\n", truncated: true },
      "success",
      "a\n[… 5 bytes left out …]\nb\n[The middle of the output was left out: to see all of it, send it to a file]\n[Succeeded: exit code 0]",
    ],
    ["NUL", { output: "a\0b\n" }, "success", "a␀b\n[Succeeded: exit code 0]"],
  ])("tells of %s", async (_name, response, status, content) => {
    expect(await ask(response)).toMatchObject({ content, status, name: "execute", tool_call_id: "1" });
  });

  it("tells what to do when the time was up", async () => {
    const answer = await ask({ output: "part\n", exitCode: 124, signal: "SIGTERM" });
    expect(answer.status).toBe("error");
    expect(answer.content).toMatch(
      /^part\n\[Stopped after [\d.]+ s because its time was up: exit code 124\. Ask for a longer timeout \(at most 3600 s\) or for less work\]$/,
    );
  });

  it.each<[string, Record<string, unknown>, number | undefined]>([
    ["a number", { timeout: 5 }, 5],
    ["text", { timeout: "2.5" }, 2.5],
    ["nothing", { timeout: "" }, undefined],
    ["null", { timeout: null }, undefined],
    ["more than is allowed", { timeout: 1e9 }, 60],
  ])("takes %s as timeout", async (_name, args, expected) => {
    const { asked } = await ask({}, { command: "x", ...args }, { maxTimeout: 60 });
    expect(asked).toMatchObject([["x", { timeout: expected }]]);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["no time", { command: "x", timeout: 0 }, /^Error: timeout must be more than 0 seconds, not 0$/],
    ["time that is no number", { command: "x", timeout: "soon" }, /^Error: The arguments for tool 'execute'/],
    ["no command", {}, /^Error: The arguments for tool 'execute' are not valid/],
  ])("%s is answered, and nothing is run", async (_name, args, words) => {
    const answer = await ask({}, args);
    expect(answer.status).toBe("error");
    expect(answer.content).toMatch(words);
    expect(answer.asked).toEqual([]);
  });

  it("answers what a sandbox refuses; another error is not for the model", async () => {
    const refused = await ask(new SandboxError("The command is empty.", "INVALID_COMMAND"));
    expect(refused).toMatchObject({ status: "error", content: "Error: The command is empty." });
    await expect(ask(new TypeError("a bug"))).rejects.toThrow("a bug");
    const aborted = new DOMException("stopped", "AbortError");
    await expect(ask(aborted)).rejects.toBe(aborted);
  });

  it("says so when the backend cannot run commands", async () => {
    const answer = await ask({}, { command: "x" }, { backend: () => new StateBackend() });
    expect(answer).toMatchObject({ status: "error", content: "Error: Commands cannot be run here." });
  });

  it("bounds what a backend left unbounded, and cuts no character in two", async () => {
    const answer = await ask({ output: `a${"😀".repeat(400_000)}z\n` });
    const text = answer.content as string;
    expect(text.length).toBeLessThan(201_000);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/^a😀.*\n\[… \d+ characters left out …\]\n.*😀z\n\[The middle/su);
  });
});
