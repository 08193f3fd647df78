/** A worker in a process of its own, which a test may kill: `node … <database> <directory> <token>`. */
import { serve } from "@deepwright/server";
import { countingAgent } from "./counting-agent-for-tests.ts";

const [database = "", directory = "", token = ""] = process.argv.slice(2);
await serve({
  agents: { agent: countingAgent(directory) },
  port: 0,
  database,
  token,
  role: "worker",
  runs: { claimTtl: 4, pollInterval: 0.1, scanInterval: 0.2, maxAttempts: 100 },
});
process.stdout.write("ready\n");
