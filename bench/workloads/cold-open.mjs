/** Opening a long thread in a process that has never seen it. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { openSaverOf } from "./savers.mjs";
import { benchModel } from "./script.mjs";

const MEASURE = fileURLToPath(new URL("../measure.mjs", import.meta.url));

/** With `path` it makes the thread there; without, it has another process do that and then opens it. */
export async function measure(contender, { messages, path }) {
  if (path !== undefined) return makeThread(contender, messages, path);
  const folder = mkdtempSync(join(tmpdir(), "deepwright-bench-"));
  const database = join(folder, "threads.db");
  const params = { messages, path: database };
  const job = JSON.stringify({ workload: "cold-open", contender, params });
  const { status, stderr } = spawnSync(process.execPath, [MEASURE, job], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { create } = await load(contender);
  const { result, cpu, wall } = await timed(async () => {
    const { saver, close } = await openSaverOf(contender, "sqlite", database);
    const agent = create({ model: benchModel([]), checkpointer: saver });
    const state = await agent.getState(runConfig("bench"));
    await close();
    return state;
  });
  rmSync(folder, { recursive: true });
  if (result.values.messages.length !== messages) throw new Error("Messages are missing.");
  return { cpu, wall };
}

async function makeThread(contender, count, path) {
  const { create } = await load(contender);
  const { saver, close } = await openSaverOf(contender, "sqlite", path);
  const agent = create({ model: benchModel([]), checkpointer: saver });
  const messages = Array.from({ length: count }, (_, i) => {
    const fields = { id: `message-${i}`, content: `This is message ${i} of a long conversation.` };
    return i % 2 === 0 ? new HumanMessage(fields) : new AIMessage(fields);
  });
  await agent.updateState(runConfig("bench"), { messages }, "model_request");
  await close();
  return {};
}
