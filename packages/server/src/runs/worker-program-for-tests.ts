/** A worker in a process of its own, which a test may kill: `node … <directory> <mode> <claim in seconds>`. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../serve.ts";
import { TOKEN } from "../server-for-tests.ts";
import { countingAgent } from "./counting-agent-for-tests.ts";

const [directory = "", mode = "work", claimTtl] = process.argv.slice(2);
const server = await serve({
  agents: { agent: countingAgent(directory, mode) },
  port: 0,
  database: join(directory, "server.db"),
  token: TOKEN,
  role: "worker",
  drainMs: 600_000,
  limits: { answerMs: 600_000 },
  runs: { claimTtl: Number(claimTtl), pollInterval: 0.1, scanInterval: 0.2, maxAttempts: 3 },
  onError: (error) => appendFileSync(join(directory, "errors.log"), `${error}\n`),
});
process.on("SIGTERM", async () => {
  await server.close();
  process.exit(0);
});
process.stdout.write("ready\n");
