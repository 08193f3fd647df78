import { AIMessage, AIMessageChunk, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent, FilesystemBackend } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { describe, expect, it } from "vitest";
import { Console } from "../../terminal/console.ts";
import { directoryWith } from "../../test-support/run-binary.ts";
import { type RunnableAgent, runAgent, taskInput } from "../run-agent.ts";
import { Stop } from "../stop.ts";
import type { StreamPart } from "../stream-part.ts";
import { type Detail, ProgressView } from "./progress-view.ts";
import { resultLine } from "./tool-lines.ts";

function viewer(detail: Detail = "normal") {
  const written = { stdout: "", stderr: "" };
  const stdout = { write: (text: string) => (written.stdout += text) };
  const stderr = { write: (text: string) => (written.stderr += text) };
  return { written, view: new ProgressView(new Console(stdout, stderr, {}), detail) };
}

async function shown(script: Script, detail?: Detail) {
  const { written, view } = viewer(detail);
  const rootDir = await directoryWith({ "a.txt": "one\ntwo" });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const agent = createDeepAgent({ model: scriptedModel(script), backend }) as unknown as RunnableAgent;
  await runAgent({ agent, input: taskInput("x"), stop: new Stop(), onPart: (part) => view.take(part) });
  return written;
}

describe("ProgressView", () => {
  it("shows words on stdout, calls and results on stderr", async () => {
    const written = await shown([
      { text: "Let me read.", toolCalls: [{ name: "read_file", args: { file_path: "/a.txt" } }] },
      callTool("read_file", { file_path: "/none.txt" }),
      say("That is all."),
    ]);
    expect(written.stdout).toBe("Let me read.\nThat is all.\n");
    expect(written.stderr.split("\n")).toEqual([
      "● read_file /a.txt",
      "  1│one (2 lines)",
      "● read_file /none.txt",
      "  Error: File '/none.txt' not found",
      "",
    ]);
  });

  it("shows of a command without output how it ended", () => {
    expect(resultLine("(no output)\n[Failed: exit code 3]", 80)).toBe("Failed: exit code 3");
  });

  it("shows the todo list when it changes, and not the call that changed it", async () => {
    const todos = [
      { content: "Look", status: "completed" },
      { content: "Think", status: "in_progress" },
      { content: "Act", status: "pending" },
    ];
    const written = await shown([
      callTool("write_todos", { todos }),
      callTool("write_todos", { todos }),
      say("x"),
    ]);
    expect(written.stderr).toBe("  ☑ Look\n  ◐ Think\n  ☐ Act\n");
  });

  it("results of parallel calls are told apart by name", async () => {
    const calls = [
      { name: "ls", args: { path: "/" } },
      { name: "glob", args: { pattern: "*.md" } },
    ];
    const written = await shown([{ toolCalls: calls }, say("x")]);
    expect(written.stderr).toContain("● ls /\n● glob *.md\n");
    expect(written.stderr).toContain("  ls: /a.txt\n");
    expect(written.stderr).toContain("  glob: No files found matching pattern '*.md'\n");
  });

  it("quiet shows the answer only, verbose shows calls and results in full", async () => {
    const script = [callTool("read_file", { file_path: "/a.txt" }), say("Done.")];
    expect(await shown(script, "quiet")).toEqual({ stdout: "Done.\n", stderr: "" });
    const { stderr } = await shown(script, "verbose");
    expect(stderr).toContain('● read_file {"file_path":"/a.txt"}');
    expect(stderr).toContain("2│two");
  });

  it("no control byte of a tool's name, arguments, result or todo gets through (TI-01)", async () => {
    const evil = "\x1b[2J\x9b1m\rX\u202e\x07";
    const written = await shown([
      { text: evil, toolCalls: [{ name: `tool${evil}`, args: { file_path: evil } }] },
      callTool("write_todos", { todos: [{ content: evil, status: "pending" }] }),
      callTool("grep", { pattern: evil }),
      say("x"),
    ]);
    expect(written.stdout + written.stderr).not.toMatch(/(?![\n])[\p{Cc}\p{Bidi_Control}]/u);
    expect(written.stderr).toContain("☐ \\x1b[2J");
  });

  it("a reply that was not streamed is still said, once", () => {
    const { written, view } = viewer();
    view.take({ type: "updates", ns: [], data: { model_request: { messages: [new AIMessage("Whole.")] } } });
    expect(written.stdout).toBe("Whole.\n");
  });

  it("a reply that broke off and came again begins a new line", () => {
    const { written, view } = viewer();
    const token = (id: string, content: string): StreamPart => ({
      type: "messages",
      ns: ["model_request:1"],
      data: [new AIMessageChunk({ id, content }), {}],
    });
    for (const part of [token("1", "Half a"), token("2", "Half a "), token("2", "reply")]) view.take(part);
    expect(written.stdout).toBe("Half a\nHalf a reply");
  });

  it("lines of a subagent have its name before them; those of one name are numbered", async () => {
    const task = (description: string) => ({
      name: "task",
      args: { description, subagent_type: "general-purpose" },
    });
    const written = await shown([
      { toolCalls: [task("one"), task("two")] },
      callTool("ls", { path: "/" }),
      callTool("ls", { path: "/" }),
      say("a"),
      say("b"),
      say("Done."),
    ]);
    expect(written.stdout).toBe("Done.\n");
    expect(written.stderr).toContain("\n  general-purpose │ ● ls /\n");
    expect(written.stderr).toContain("\n  general-purpose 2 │ ● ls /\n");
    expect(written.stderr).toContain("\n  general-purpose │   ls: /a.txt\n");
  });

  it("a subagent's name cannot steer the terminal either (TI-01)", () => {
    const { written, view } = viewer();
    const token = [new AIMessageChunk("x"), { lc_agent_name: "evil\x1b[2J\u202e" }];
    view.take({ type: "messages", ns: ["tools:1", "model_request:2"], data: token });
    const call = { name: "ls", args: {}, id: "c" };
    const message = new AIMessage({ content: "", tool_calls: [call] });
    view.take({ type: "updates", ns: ["tools:1"], data: { model_request: { messages: [message] } } });
    expect(written.stderr).toBe("  evil\\x1b[2J\\u202e │ ● ls\n");
  });

  it("what a subagent says stays off stdout; what it does is shown further in", () => {
    const { written, view } = viewer();
    const ns = ["tools:1"];
    const call = { name: "ls", args: { path: "/" }, id: "c" };
    const message = new AIMessage({ content: "Child words", tool_calls: [call] });
    view.take({
      type: "messages",
      ns: [...ns, "model_request:2"],
      data: [new AIMessageChunk("Child words"), {}],
    });
    view.take({ type: "updates", ns, data: { model_request: { messages: [message] } } });
    const result = new ToolMessage({ content: "/a", tool_call_id: "c" });
    view.take({ type: "updates", ns, data: { tools: { messages: [result] } } });
    expect(written).toEqual({ stdout: "", stderr: "  ● ls /\n    /a\n" });
  });
});
