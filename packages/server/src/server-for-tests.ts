/** A server on a port of this machine, with an agent that repeats what it is told. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { z } from "zod";
import { type RunningServer, type ServeOptions, serve } from "./serve.ts";

/** Actions the last message can ask for: `wait <ms>`, `hold <file>`, `ask`, `write <path> <text>`, `say <text>`, or an echo. */
export function echoAgent() {
  const sleep = tool(({ ms }) => new Promise<string>((done) => setTimeout(done, ms, "slept")), {
    name: "sleep",
    description: "Waits.",
    schema: z.object({ ms: z.number() }),
  });
  const hold = tool(holdUntil, {
    name: "hold",
    description: "Waits for a file.",
    schema: z.object({ file: z.string() }),
  });
  const ask = tool(() => "asked", { name: "ask", description: "Asks.", schema: z.object({}) });
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      const text = String(last?.text ?? "");
      if (last?.getType() === "tool") return say(`done: ${text}`);
      const [word, first = "", ...rest] = text.split(" ");
      if (word === "wait") return callTool("sleep", { ms: Number(first) });
      if (word === "hold") return callTool("hold", { file: first });
      if (word === "ask") return callTool("ask", {});
      if (word === "write") return callTool("write_file", { file_path: first, content: rest.join(" ") });
      if (word === "say") return say([first, ...rest].join(" "));
      return say(`echo: ${text}`);
    },
    { record: false },
  );
  return createDeepAgent({ model, tools: [sleep, hold, ask], interruptOn: { ask: true } });
}

async function holdUntil({ file }: { file: string }, { signal }: { signal?: AbortSignal }): Promise<string> {
  while (!existsSync(file)) {
    signal?.throwIfAborted();
    await new Promise((go) => setTimeout(go, 20));
  }
  return "held";
}

/** Looks often for what there is to do. */
export const PROMPT = { pollInterval: 0.1, scanInterval: 0.2 } as const;

/** For tests that kill workers: another takes over soon. A worker that is slow loses its runs too, so they have many attempts. */
export const QUICK = { ...PROMPT, claimTtl: 4, maxAttempts: 100 } as const;

export const TOKEN = "a-token-for-tests-0123456789";

export interface TestServer extends RunningServer {
  /** JSON in and out, with the token. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  readonly directory: string;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

/** Time limits of the server that no test waits for. */
const NEVER_MS = 600_000;

export async function startServer(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), "server-"));
  const server = await serve({
    agents: { echo: echoAgent() },
    port: 0,
    database: join(directory, "server.db"),
    ...(options.authenticate ? {} : { token: TOKEN }),
    drainMs: 5_000,
    stallMs: NEVER_MS,
    ...options,
    limits: { answerMs: NEVER_MS, ...options.limits },
    runs: { claimTtl: 60, ...options.runs },
  });
  return {
    ...server,
    directory,
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${options.token ?? TOKEN}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
    },
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Counts the streams of runs that the server is writing. */
export function streamCounter({ app }: RunningServer): () => number {
  const { events } = app.storage.records;
  const { watch } = events;
  let open = 0;
  events.watch = (...given) => {
    const stop = watch.apply(events, given);
    open += 1;
    return () => {
      open -= 1;
      stop();
    };
  };
  return () => open;
}
