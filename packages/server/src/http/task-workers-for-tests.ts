/** A server whose workers are processes that a test may kill. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterThisTest } from "../../../../scripts/test-cleanups.mjs";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { backgroundAgents } from "../runs/background-agents-for-tests.ts";
import { PROMPT, QUICK, startServer, type TestServer } from "../server-for-tests.ts";

const PROGRAM = await testProgram(new URL("./task-program-for-tests.ts", import.meta.url));

export async function startWorker(database: string, ...elsewhere: string[]): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [PROGRAM, database, ...elsewhere], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterThisTest(() => worker.kill("SIGKILL"));
  await once(worker.stdout!, "data");
  return worker;
}

/** A server of its own that has the same agents, and works. */
export async function startFar(): Promise<TestServer> {
  const far = await startServer({ agents: backgroundAgents(), runs: PROMPT });
  afterThisTest(() => far.close());
  return far;
}

/** A server that works on nothing itself, and where its workers find its records. */
export async function startApi(postgres: string | undefined, elsewhere?: string) {
  const api = await startServer({
    agents: backgroundAgents(elsewhere),
    role: "api",
    runs: QUICK,
    ...(postgres !== undefined && { database: postgres }),
  });
  afterThisTest(() => api.close());
  return { api, database: postgres ?? join(api.directory, "server.db") };
}

export interface ReportedTask {
  readonly taskId: string;
  readonly runId: string;
  readonly status: string;
}

/** A thread with the supervisor. */
export async function openThread(api: TestServer) {
  const { thread_id } = (await api.call("POST", "/threads", {})).body;
  const state = async () => (await api.call("GET", `/threads/${thread_id}/state`)).body.values ?? {};
  return {
    thread_id: thread_id as string,
    say: (content: string, assistant_id = "boss") =>
      api.call("POST", `/threads/${thread_id}/runs/wait`, {
        assistant_id,
        input: { messages: [{ role: "user", content }] },
      }),
    messages: async () => ((await state()).messages ?? []) as { id: string; content: unknown }[],
    tasks: async () => Object.values((await state()).asyncTasks ?? {}) as ReportedTask[],
    /** Reports of tasks that the supervisor has read. */
    news: async (): Promise<string[]> =>
      ((await state()).messages ?? [])
        .map(({ content }: { content: unknown }) => String(content))
        .filter((text: string) => text.startsWith("[Background task")),
    /** Nothing works for it, and nothing waits to be read. */
    isAtRest: async () => {
      const { status, open_tasks } = (await api.call("GET", `/threads/${thread_id}`)).body;
      return status === "idle" && open_tasks === undefined;
    },
  };
}
