/**
 * The supervisor of async-research.ts as a service: its background tasks are runs of the server, so that they go on when
 * the server is stopped and another one started, and their end wakes the supervisor.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/async-research-server.ts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "@deepwright/server";
import { tool } from "@langchain/core/tools";
import { Client } from "@langchain/langgraph-sdk";
import { type AsyncTask, createDeepAgent } from "deepwright";
import { callTool, type ScriptedRequest } from "deepwright/testing";
import { z } from "zod";
import { modelOrScript } from "./support/model.ts";

/** The library opens when the second server has started: no search ends before. */
let isLibraryOpen = false;

const search = tool(
  async ({ query }, { signal }) => {
    while (!isLibraryOpen) await sleep(50, undefined, { signal });
    return `A page about ${query}.`;
  },
  { name: "search", description: "Search the library.", schema: z.object({ query: z.string() }) },
);

function research({ messages }: ScriptedRequest) {
  const last = messages.at(-1);
  return last?.type === "tool" ? last.text : callTool("search", { query: last?.text.split(" ").at(-1) });
}

/** Starts two tasks, looks at each when it hears of its end, and tells what came out. */
function supervise({ messages }: ScriptedRequest) {
  const last = messages.at(-1)?.text ?? "";
  const start = (description: string) => ({
    name: "start_async_task",
    args: { description, subagent_type: "researcher" },
  });
  if (last.startsWith("Look into")) return { toolCalls: [start("Research whales"), start("Research tides")] };
  const ended = messages.flatMap(({ text }) => /^\[Background task (\S+) /.exec(text)?.[1] ?? []);
  const reports = messages.flatMap(({ text }) => /^Task (\S+) .*: success\n(.*)/.exec(text) ?? []);
  const unread = ended.find((id) => !reports.includes(id));
  if (unread !== undefined) return callTool("check_async_task", { task_id: unread });
  const pages = reports.filter((text) => /^A page/.test(text)).sort();
  return pages.length > 0 ? `I have heard: ${pages.join(" ")}` : "Two researchers are at work.";
}

const folder = mkdtempSync(join(tmpdir(), "deepwright-example-"));
const token = "a-token-for-this-example";

async function start() {
  const server = await serve({
    agents: {
      research: createDeepAgent({ tools: [search], model: modelOrScript(research) }),
      // A function is called when the agent is first wanted: then the server's graphs are known by their names.
      supervisor: () =>
        createDeepAgent({
          model: modelOrScript(supervise),
          systemPrompt: "Have research done in the background, and tell the user what came out of it.",
          subagents: [{ name: "researcher", description: "Researches one topic.", graphId: "research" }],
        }),
    },
    ...{ token, database: join(folder, "server.db"), port: 0, drainMs: 500 },
  });
  return { server, client: new Client({ apiUrl: server.url, apiKey: token }) };
}

interface Values {
  readonly messages: readonly { readonly type: string; readonly content: string }[];
  readonly asyncTasks: Readonly<Record<string, AsyncTask>>;
}

const first = await start();
const { thread_id } = await first.client.threads.create();
const input = { messages: [{ role: "user", content: "Look into whales and tides." }] };
const { messages } = (await first.client.runs.wait(thread_id, "supervisor", { input })) as unknown as Values;
console.log(`supervisor: ${messages.at(-1)?.content}`);
await first.server.close();
console.log("The server is stopped, and another one started.");

const second = await start();
isLibraryOpen = true;
let values: Values;
do {
  await sleep(200);
  const { status, ...thread } = await second.client.threads.get<Values>(thread_id);
  values = thread.values as Values;
  if (status === "error") throw new Error("The supervisor has failed.");
} while (Object.values(values.asyncTasks).some(({ status }) => status !== "success") || isWaiting(values));
console.log(`supervisor: ${values.messages.at(-1)?.content}`);
for (const { description, status } of Object.values(values.asyncTasks))
  console.log(`${description}: ${status}`);
await second.server.close();
rmSync(folder, { recursive: true });

/** Whether the supervisor has yet to speak. */
function isWaiting({ messages }: Values): boolean {
  return messages.at(-1)?.type !== "ai" || messages.at(-1)?.content === "";
}
