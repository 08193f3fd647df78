import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { approveCommands } from "./approve-commands.ts";
import { createCommandRules } from "./create-command-rules.ts";
import { READ_ONLY_COMMANDS } from "./read-only-commands.ts";

describe("an agent whose commands are approved by rules", () => {
  const rules = createCommandRules([
    ...READ_ONLY_COMMANDS,
    {
      decision: "deny",
      command: "curl",
      reason: "Nothing is fetched here.",
      examples: { match: ["curl a"], notMatch: ["cat a"] },
    },
  ]);

  async function outcomeOf(args: Record<string, unknown>) {
    const rootDir = mkdtempSync(join(tmpdir(), "deepwright-rules-"));
    onTestFinished(() => rmSync(rootDir, { recursive: true, force: true }));
    const agent = createDeepAgent({
      model: scriptedModel([callTool("execute", args), "Done."]),
      ...approveCommands(rules, new LocalShellBackend({ rootDir, virtualMode: true })),
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    const result: any = await agent.invoke({ messages: [{ role: "user", content: "Go" }] }, thread);
    const results = result.messages.filter((message: any) => message.getType() === "tool");
    return { questions: result.__interrupt__?.[0]?.value?.actionRequests, result: results.at(-1)?.text };
  }

  it("runs what is allowed", async () => {
    const { questions, result } = await outcomeOf({ command: "echo done" });
    expect([questions, result]).toEqual([undefined, expect.stringContaining("done\n[Succeeded")]);
  });

  it("asks about the rest, with the reason", async () => {
    const { questions } = await outcomeOf({ cmd: "echo a > b" });
    expect(questions).toMatchObject([{ name: "execute", description: expect.stringContaining("redirects") }]);
  });

  it("lets the model read why a command is refused, and asks nobody", async () => {
    for (const args of [{ command: "curl a" }, { cmd: "true && curl a" }]) {
      const { questions, result } = await outcomeOf(args);
      expect([questions, result]).toEqual([
        undefined,
        expect.stringContaining("A rule refuses `curl`. Nothing is fetched here."),
      ]);
    }
  });
});
