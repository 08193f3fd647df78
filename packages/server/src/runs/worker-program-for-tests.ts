/** A worker in a process of its own, which a test may kill: `node … <directory> <mode>`. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createAgentRegistry } from "../agents/registry.ts";
import { createInProcessQueue } from "../queue/in-process.ts";
import { openRecords } from "../records/open-records.ts";
import { countingAgent } from "./counting-agent-for-tests.ts";
import { createRunService } from "./run-service.ts";

const [directory = "", mode = "work"] = process.argv.slice(2);
const saver = await SqliteSaver.open(join(directory, "state.db"));
const records = await openRecords({ sqlite: join(directory, "records.db") });
const registry = createAgentRegistry({
  agents: { agent: countingAgent(directory, mode) },
  saver,
  claimTtl: 2,
});
const runs = createRunService({
  records,
  registry,
  saver,
  queue: createInProcessQueue(),
  claimTtl: 2,
  pollInterval: 0.1,
  scanInterval: 0.2,
  maxAttempts: 3,
  onError: (error) => appendFileSync(join(directory, "errors.log"), `${error}\n`),
});
process.on("SIGTERM", async () => {
  await runs.close({ limitMs: 10_000 });
  await records.close();
  await saver.close();
  process.exit(0);
});
await runs.open();
process.stdout.write("ready\n");
