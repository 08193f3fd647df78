/** A part of a thread by an agent that knows nothing but what was stored, here or in a process of its own. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { HumanMessage } from "@langchain/core/messages";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { createDeepAgent } from "../agent.ts";
import { DiskSaver } from "../loop/fixtures/disk-saver.ts";
import { MODELS } from "./provider-server-models-for-tests.ts";
import type { Api } from "./provider-server-read-for-tests.ts";
import { picture } from "./provider-server-work-for-tests.ts";

export interface ThreadPart {
  readonly api: Api;
  readonly url: string;
  /** Where the thread is stored. */
  readonly directory: string;
  readonly words: string;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await runPart(JSON.parse(process.argv[2] ?? "{}") as ThreadPart);

export async function runPart({ api, url, directory, words }: ThreadPart): Promise<void> {
  const agent = createDeepAgent({
    model: MODELS[api](url),
    tools: [picture],
    checkpointer: new DiskSaver(join(directory, "thread.jsonl")),
  });
  await agent.invoke({ messages: [new HumanMessage(words)] }, { configurable: { thread_id: "one" } });
}

/** Rejects with what the process wrote if it fails. */
export async function runPartInProcess(part: ThreadPart): Promise<void> {
  const program = await testProgram(new URL(import.meta.url));
  await promisify(execFile)(process.execPath, [program, JSON.stringify(part)]);
}
