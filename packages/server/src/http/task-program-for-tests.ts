/** A worker with agents that have background tasks, in a process a test may kill: `node … <database> [<other server>]`. */
import { backgroundAgents } from "../runs/background-agents-for-tests.ts";
import { QUICK, TOKEN } from "../server-for-tests.ts";
import { createApp } from "./app.ts";

const [database = "", elsewhere] = process.argv.slice(2);
await createApp({ agents: backgroundAgents(elsewhere), database, token: TOKEN, role: "worker", runs: QUICK });
process.stdout.write("ready\n");
