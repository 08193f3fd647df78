/** A thread as a run of the program keeps it, without a process for it. For tests only. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { homeOf } from "./run-binary.ts";

/** One task and its answer, in the directory `cwd`. */
export async function holdThread(cwd: string, task: string, answer: string): Promise<void> {
  const saver = await SqliteSaver.open(join(homeOf(cwd), "state.db"));
  const agent = createDeepAgent({ model: scriptedModel([answer]), checkpointer: saver });
  const config = { configurable: { thread_id: randomUUID() }, metadata: { cwd } };
  await agent.invoke({ messages: [{ role: "user", content: task }] }, config);
  await saver.close();
}
