/**
 * Memory that is brought up to date between conversations: a server with an assistant that has a memory file, and a cron
 * that lets another agent go over what was said, every six hours. Nobody waits for that here: with the script the cron
 * runs every second, with a real model its run is begun by hand, too.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/cron-consolidation.ts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationsOf } from "@deepwright/checkpoint";
import { SqliteSaver, SqliteStore } from "@deepwright/checkpoint/sqlite";
import { serve } from "@deepwright/server";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { CompositeBackend, createDeepAgent, StateBackend, StoreBackend } from "deepwright";
import { type ConsolidationReport, createConsolidationAgent } from "deepwright/consolidation";
import { callTool, type ScriptedRequest } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "deepwright-example-"));
const database = join(folder, "server.db");
const saver = await SqliteSaver.open(database);
const store = await SqliteStore.open(database);
const MEMORY = "/memories/AGENTS.md";
const memories = new StoreBackend({ namespace: ["memories"] });
const backend = new CompositeBackend(new StateBackend(), { "/memories/": memories });

/** The scripted assistant does as its memory says, as long as it remembers. */
function assist({ messages }: ScriptedRequest) {
  if (/report/i.test(messages.at(-1)?.text ?? "")) {
    const isBrief = messages[0]?.text.includes("wants brief answers");
    return isBrief ? "All is well." : "Let me begin with the history of all reports, and what led to them.";
  }
  return "I will keep it in mind.";
}

/** The scripted reviewer reads what is new and writes down what lasts. */
function review({ messages }: ScriptedRequest) {
  const last = messages.at(-1);
  if (last?.type === "human") return callTool("search_recent_conversations", { query: "brief" });
  if (last?.name !== "search_recent_conversations") return "Brief answers are wanted.";
  return callTool("write_file", { file_path: MEMORY, content: "- The user wants brief answers.\n" });
}

const assistant = createDeepAgent({ model: modelOrScript(assist), backend, memory: [MEMORY] });
const reviewer = createConsolidationAgent({
  model: modelOrScript(review),
  backend,
  memory: [MEMORY],
  historyDirectory: "/memories/history",
  conversations: conversationsOf(saver),
  store,
});

let isUpToDate = false;
/** A run of the server is a run of a graph: this one has a single step. */
const State = Annotation.Root({ report: Annotation<Pick<ConsolidationReport, "status" | "files">> });
const consolidation = new StateGraph(State)
  .addNode("consolidate", async (_, { signal }) => {
    const { status, files } = await reviewer.consolidate({ ...(signal && { signal }) });
    for (const { path, added } of files) console.log(`${status}: ${path} ${added.join(" ")}`);
    isUpToDate ||= files.length > 0;
    return { report: { status, files } };
  })
  .addEdge(START, "consolidate")
  .compile();

const token = "a-token-for-this-example";
const server = await serve({
  agents: { assistant, consolidation },
  ...{ database, saver, store, token },
  port: 0,
  runs: { cronInterval: 0.2 },
  limits: { cronSeconds: 1 },
});
const client = new Client({ apiUrl: server.url, apiKey: token });

async function say(content: string): Promise<void> {
  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: "user", content }] };
  const { messages } = (await client.runs.wait(thread_id, "assistant", { input })) as {
    messages: { content: string }[];
  };
  console.log(`person: ${content}\nassistant: ${messages.at(-1)?.content}`);
}

await say("A report, please.");
await say("That was long. I like brief answers.");

const schedule = process.env.MODEL ? "0 */6 * * *" : "* * * * * *";
await client.crons.create("consolidation", { input: {}, schedule });
if (process.env.MODEL) await client.runs.wait(null, "consolidation", { input: {} });
else while (!isUpToDate) await new Promise((done) => setTimeout(done, 100));
const [cron] = await client.crons.search();
await client.crons.delete(cron?.cron_id as string);

await say("Another report, please.");
await server.close();
await store.close();
await saver.close();
rmSync(folder, { recursive: true });
