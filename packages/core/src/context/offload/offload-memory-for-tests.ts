/** Tests only: a process that has an agent produce a huge result, and says how much memory that took. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { LocalShellBackend } from "../../backends/shell/local-shell.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import { toolMessages } from "./offload-for-tests.ts";

const MEGABYTE = 1024 * 1024;
const LINE = `${"x".repeat(103)}\n`;
const LINES = 1_000_000;

const [kind, rootDir = ""] = process.argv.slice(2);
const collect = (globalThis as unknown as { gc: () => void }).gc;
let before = process.memoryUsage().rss;

const huge = new DynamicStructuredTool({
  name: "huge",
  description: "A million lines.",
  schema: z.object({}),
  func: async () => {
    const text = LINE.repeat(LINES);
    text.charCodeAt(text.length - 1);
    collect();
    before = process.memoryUsage().rss;
    return text;
  },
});

const call =
  kind === "output"
    ? callTool("execute", { command: "yes 'a line of output' | head -c 300000000" }, "call_1")
    : callTool("huge", {}, "call_1");
const backend = new LocalShellBackend({ rootDir });
const agent = createDeepAgent({ model: scriptedModel([call, "done"]), backend, tools: [huge] });
const state = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
const peak = process.resourceUsage().maxRSS * 1024;
collect();
const area = join(rootDir, ".deepwright/large_tool_results");
process.stdout.write(
  JSON.stringify({
    grownMegabytes: (peak - before) / MEGABYTE,
    heapMegabytes: process.memoryUsage().heapUsed / MEGABYTE,
    text: toolMessages(state as never)[0]?.text,
    files: readdirSync(area).map((name) => ({ name, size: statSync(join(area, name)).size })),
  }),
);
