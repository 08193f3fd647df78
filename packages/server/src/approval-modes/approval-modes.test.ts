import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, createSubAgentMiddleware, StateBackend } from "deepwright";
import { callTool as call, say, scriptedModel } from "deepwright/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { APPROVAL_MODES, type ApprovalMode, verdictOf } from "./approval-mode.ts";
import { ApprovalModes } from "./approval-modes.ts";

const EFFECTS = ["reads", "files", "commands", "network", "unknown"] as const;

test("a table of all modes and effects", () => {
  const table = Object.fromEntries(
    APPROVAL_MODES.map((mode) => [
      mode,
      EFFECTS.map((effect) =>
        verdictOf(mode, { effect, isHarmless: false, isContained: effect === "commands" }),
      ),
    ]),
  );
  expect(table).toEqual({
    ask: ["run", "ask", "ask", "ask", "ask"],
    "accept-edits": ["run", "run", "ask", "ask", "ask"],
    plan: ["run", "refuse", "refuse", "refuse", "refuse"],
    auto: ["run", "run", "run", "ask", "ask"],
  });
});

test("without a sandbox auto asks about commands; a harmless command runs in every mode", () => {
  expect(verdictOf("auto", { effect: "commands", isHarmless: false, isContained: false })).toBe("ask");
  for (const mode of APPROVAL_MODES)
    expect(verdictOf(mode, { effect: "commands", isHarmless: true, isContained: true })).toBe("run");
});

const WRITE = call("write_file", { file_path: "/a.md", content: "x" });

function agentFor(modes: ApprovalModes, turns: Parameters<typeof scriptedModel>[0]) {
  return createDeepAgent({
    model: scriptedModel(turns),
    backend: new StateBackend(),
    checkpointer: new MemorySaver(),
    middleware: [
      modes.guard,
      createSubAgentMiddleware({ defaultMiddleware: [modes.guard] } as never),
    ] as never,
    interruptOn: modes.gate({ write_file: {}, edit_file: {}, delete: {} }) as never,
  });
}

const run = async (agent: ReturnType<typeof agentFor>, configurable: object = {}) =>
  (await agent.invoke({ messages: [{ role: "user", content: "go" }] } as never, {
    configurable: { thread_id: "t", ...configurable },
  })) as unknown as {
    files?: Record<string, unknown>;
    __interrupt__?: unknown[];
    messages: { text: string }[];
  };

test.each<[ApprovalMode, "asked" | "written" | "refused"]>([
  ["ask", "asked"],
  ["accept-edits", "written"],
  ["plan", "refused"],
  ["auto", "written"],
])("a write in mode %s is %s", async (mode, expected) => {
  const modes = new ApprovalModes({ isContained: true });
  modes.set("t", mode);
  const result = await run(agentFor(modes, [WRITE, say("done")]));
  const isAsked = (result.__interrupt__ ?? []).length > 0;
  const isWritten = result.files !== undefined && "/a.md" in result.files;
  expect(isAsked ? "asked" : isWritten ? "written" : "refused").toBe(expected);
});

test("a client names the mode of a run, and the mode of the thread counts before it", async () => {
  const modes = new ApprovalModes({ isContained: true });
  const free = await run(agentFor(modes, [WRITE, say("done")]), { approval_mode: "accept-edits" });
  expect(free.files).toHaveProperty("/a.md");
  modes.set("t", "plan");
  const held = await run(agentFor(modes, [WRITE, say("done")]), { approval_mode: "auto" });
  expect(held.files ?? {}).not.toHaveProperty("/a.md");
});

test("plan mode holds in subagents, and tells the model", async () => {
  const modes = new ApprovalModes({ isContained: true, initial: "plan" });
  const seen: string[] = [];
  const agent = agentFor(modes, ({ messages }) => {
    seen.push(messages[0]?.text ?? "");
    const last = messages.at(-1);
    if (last?.text === "go")
      return call("task", { subagent_type: "general-purpose", description: "write it" });
    return last?.text === "write it" ? WRITE : say(last?.text ?? "");
  });
  const result = await run(agent);
  expect(result.files ?? {}).not.toHaveProperty("/a.md");
  expect(result.messages.at(-1)?.text).toContain("Plan mode");
  expect(seen.every((prompt) => prompt.includes("## Plan mode"))).toBe(true);
});

test("a call that plan mode refused does not run after the mode changed", async () => {
  const modes = new ApprovalModes({ isContained: true, initial: "plan" });
  const gates = modes.gate({ write_file: {} });
  const request = {
    toolCall: { id: "c1", name: "write_file", args: {} },
    tool: undefined,
    runtime: { configurable: { thread_id: "t" } },
    state: {},
  };
  expect(await gates.write_file?.when?.(request as never)).toBe(false);
  modes.set("t", "ask");
  const answer = await modes.guard.wrapToolCall(request as never, () => "ran");
  expect(answer).not.toBe("ran");
});

test("permissions for a prefix of a command or a tool spare the question", async () => {
  const modes = new ApprovalModes({ isContained: true, wordsOf: async (text) => text.split(" ") });
  const gates = modes.gate({ execute: {} });
  const asks = (command: string, threadId = "t") =>
    gates.execute?.when?.({
      toolCall: { id: command, name: "execute", args: { command } },
      runtime: { configurable: { thread_id: threadId } },
    } as never);
  expect(await asks("npm test")).toBe(true);
  modes.allow({ tool: "execute", prefix: ["npm", "test"], threadId: "t" });
  expect(await asks("npm test --watch")).toBe(false);
  expect(await asks("npm run x")).toBe(true);
  expect(await asks("npm test", "other")).toBe(true);
  modes.allow({ tool: "execute" });
  expect(await asks("anything", "other")).toBe(false);
});

test.each(["ask", "accept-edits", "auto"] as const)(
  "a tool that only reads and has a gate of its own is asked about in mode %s",
  async (mode) => {
    const fetched: string[] = [];
    const page = tool(async ({ url }) => String(fetched.push(url)), {
      name: "fetch_page",
      description: "Fetch a page.",
      schema: z.object({ url: z.string() }),
      metadata: { effect: "reads" },
    });
    const modes = new ApprovalModes({ isContained: true, initial: mode });
    const isNew = ({ toolCall }: { toolCall: { args: unknown } }) =>
      (toolCall.args as { url: string }).url !== "https://known.example";
    const agent = (url: string) =>
      createDeepAgent({
        model: scriptedModel([call("fetch_page", { url }), say("done")]),
        tools: [page],
        checkpointer: new MemorySaver(),
        middleware: [modes.guard] as never,
        interruptOn: modes.gate({ fetch_page: { when: isNew } as never }) as never,
      }) as never;
    expect((await run(agent("https://new.example"))).__interrupt__).toHaveLength(1);
    expect((await run(agent("https://known.example"))).__interrupt__).toBeUndefined();
    expect(fetched).toEqual(["https://known.example"]);
  },
);
