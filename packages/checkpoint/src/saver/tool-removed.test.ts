import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { SqliteSaver } from "../sqlite/index.ts";

const folder = mkdtempSync(join(tmpdir(), "deepwright-tool-removed-"));
afterAll(() => rmSync(folder, { recursive: true }));
const thread = { configurable: { thread_id: "t" } };

const mail = tool(async () => "sent", { name: "mail", description: "Send.", schema: z.object({}) });

test("R-39 a program without the tool a stored call names answers the call and goes on", async () => {
  const path = join(folder, "state.db");
  const before = await SqliteSaver.open(path);
  const old = createDeepAgent({
    model: scriptedModel([callTool("mail", {})]),
    tools: [mail],
    interruptOn: { mail: true },
    checkpointer: before,
  });
  await old.invoke({ messages: "Mail it." }, thread);
  await before.close();

  const checkpointer = await SqliteSaver.open(path);
  const next = createDeepAgent({
    model: scriptedModel([say("The tool is gone.")]),
    interruptOn: { mail: true },
    checkpointer,
  });
  const approve = new Command({ resume: { decisions: [{ type: "approve" }] } });
  const { messages, outcome } = await next.invoke(approve, thread);
  expect(messages.map((message) => message.type)).toEqual(["human", "ai", "tool", "ai"]);
  expect(messages[2]?.text).toMatch(/no tool.*mail/i);
  expect(outcome.kind).toBe("done");
  await checkpointer.close();
});
