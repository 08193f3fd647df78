/** Words about approvals that the model reads. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { ask, onThread } from "../fixtures/agents.ts";

describe("the system prompt", () => {
  const promptOf = async (interruptOn: Record<string, boolean>) => {
    const model = scriptedModel(["done"]);
    const agent = createDeepAgent({
      model,
      interruptOn,
      checkpointer: new MemorySaver(),
      systemPrompt: { suffix: "The end." },
    });
    await agent.invoke(ask(), onThread("t"));
    return model.calls[0]?.messages[0]?.text ?? "";
  };

  test("names the tools that wait for a person, behind all other sections", async () => {
    const text = await promptOf({ edit_file: true, task: true, absent: true, ls: false });
    expect(text).toMatch(
      /decides about calls of these tools before they run: `edit_file`, `delete`, `task`\.\n/,
    );
    expect(text.indexOf("## Approvals")).toBeGreaterThan(
      text.lastIndexOf("`task`", text.indexOf("## Approvals")),
    );
    expect(text.trimEnd()).toMatch(/ask what to do\.\n\nThe end\.$/);
  });

  test("has no such section where nothing waits", async () => {
    expect(await promptOf({ absent: true })).not.toContain("## Approvals");
    expect(await promptOf({ ls: false })).not.toContain("## Approvals");
  });
});

test("a call that nobody could be asked about is not called rejected by a person", async () => {
  const model = scriptedModel(({ turn }) => (turn === 0 ? callTool("ls") : say("done")));
  const agent = createDeepAgent({ model, interruptOn: { ls: true }, checkpointer: new MemorySaver() });
  await agent.invoke(ask(), onThread("t"));
  const resume = { decisions: [{ type: "reject", message: "go on without it", unattended: true }] };
  const { messages } = await agent.invoke(new Command({ resume }), onThread("t"));
  expect(messages.find((message) => message.type === "tool")?.text).toBe(
    "The call of ls needs approval, no person could be asked, and it did not run: go on without it",
  );
});
