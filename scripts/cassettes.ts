/** `npm run cassettes`: records the kept threads of `packages/evals` anew, after a wanted change of requests. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { cassetteText } from "../packages/evals/src/cassette/cassette.ts";
import { KEPT_THREADS, keptTools } from "../packages/evals/src/cassette/kept-threads-for-tests.ts";
import { cassetteOf } from "../packages/evals/src/cassette/record-cassette.ts";

const directory = new URL("../packages/evals/src/cassette/kept/", import.meta.url);
/** The same every time, so that only what changed is different. */
const recordedAt = new Date("2026-01-01T00:00:00Z");

mkdirSync(directory, { recursive: true });
for (const file of readdirSync(directory)) rmSync(new URL(file, directory));
for (const { name, runs } of KEPT_THREADS) {
  const turns = runs.flatMap(([, ...given]) => given).map((turn, i) => ({ ...turn, id: `${name}-${i}` }));
  const model = scriptedModel(turns);
  const agent = createDeepAgent({ model, tools: keptTools, checkpointer: new MemorySaver() });
  let messages: Parameters<typeof cassetteOf>[0] = [];
  for (const [message] of runs) {
    const input = { messages: [new HumanMessage(message)] };
    ({ messages } = await agent.invoke(input, { configurable: { thread_id: name } }));
  }
  writeFileSync(
    new URL(`${name}.cassette.json`, directory),
    cassetteText(await cassetteOf(messages, { name, recordedAt })),
  );
}
console.log(`Recorded ${KEPT_THREADS.length} threads.`);
