/** A server in a process of its own, which may be killed at any moment: `node … <settings as JSON>`. It begins when its parent says so. */
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { PostgresSaver } from "@deepwright/checkpoint/postgres";
import { serve } from "../serve.ts";
import { plannedAgent, type SharedPlan } from "./agent.ts";

export interface ServerSettings {
  readonly role: "api" | "worker";
  /** URL of the Postgres. */
  readonly database: string;
  readonly token: string;
  /** For what its agent and its failures leave behind. */
  readonly directory: string;
  readonly plan: SharedPlan;
  /** Milliseconds a request may take. */
  readonly answerMs: number;
  readonly runs: {
    readonly claimTtl: number;
    readonly maxAttempts: number;
    readonly concurrency: number;
    readonly scanInterval: number;
  };
}

const MANY = { burst: 100_000, perSecond: 100_000 };

process.on("disconnect", () => process.exit());
const settings = JSON.parse(process.argv[2] ?? "{}") as ServerSettings;
// Everything is loaded; it may be a while until it is needed.
await once(process, "message");
const { role, database, token, directory, plan, runs } = settings;
const saver = await PostgresSaver.open(database);
const server = await serve({
  agents: { planned: plannedAgent(saver, directory, plan) },
  port: 0,
  database,
  saver,
  token,
  role,
  runs,
  limits: { requests: MANY, runs: MANY, answerMs: settings.answerMs },
  onError: (error) =>
    appendFileSync(
      join(directory, "errors.txt"),
      `${role} ${process.pid} ${new Date().toISOString()} ${(error as Error)?.stack ?? error}\n`,
    ),
});
process.send?.({ url: server.url });
