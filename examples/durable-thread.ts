/** A thread that outlives its process: SQLite keeps it, and what a turn did can be seen and taken back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openThreads } from "@deepwright/checkpoint";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";

const folder = mkdtempSync(join(tmpdir(), "deepwright-example-"));
const thread = { configurable: { thread_id: "notes" } };
const edit = { file_path: "/plan.md", old_string: "Monday", new_string: "Friday" };

async function run(task: string, script: Parameters<typeof scriptedModel>[0]): Promise<void> {
  const checkpointer = await SqliteSaver.open(join(folder, "state.db"));
  const model = scriptedModel(script);
  const agent = createDeepAgent({ model, checkpointer, threadClaim: { mode: "queue" } });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: task }] }, thread);
  console.log(messages.length, "messages:", messages.at(-1)?.text);
  await checkpointer.close();
}

await run("Plan it.", [
  callTool("write_file", { file_path: "/plan.md", content: "Begin on Monday.\n" }),
  "Planned.",
]);
await run("Later, please.", [callTool("edit_file", edit), "Moved."]);

const checkpointer = await SqliteSaver.open(join(folder, "state.db"));
const threads = openThreads(checkpointer);
const { steps } = await threads.show("notes");
const moved = steps.findLast(({ changedFiles }) => changedFiles.length > 0);
const [change] = await threads.diff("notes", moved?.checkpointId ?? "");
console.log(change?.patch?.trim().split("\n").slice(-2).join("\n"));
const { restored } = await threads.rewind("notes", (moved?.step ?? 0) - 1);
console.log("put back:", restored.map(({ path }) => path).join(", "));
await checkpointer.close();
rmSync(folder, { recursive: true });
