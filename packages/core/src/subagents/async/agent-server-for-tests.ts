/** A small server that speaks the endpoints of the Agent Protocol which tasks need, over HTTP on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServedRun {
  readonly threadId: string;
  readonly runId: string;
  status: string;
  /** Body of the request that began it. */
  readonly body: Record<string, any>;
  readonly headers: Record<string, unknown>;
}

export interface AgentServer {
  readonly url: string;
  readonly runs: readonly ServedRun[];
  /** Every request as `METHOD /path?query`. */
  readonly requests: readonly string[];
  /** The run is over, and these are the last words of its thread. */
  finish(run: ServedRun, text: string): void;
  fail(run: ServedRun, message: string): void;
  /** Facts about threads besides their runs, as `{"open_tasks": 1}`, by thread. */
  readonly notes: Map<string, object>;
  /** Answers every request from now on; undefined: as before. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

export async function agentServer(): Promise<AgentServer> {
  const runs: ServedRun[] = [];
  const requests: string[] = [];
  const notes = new Map<string, object>();
  const threads = new Map<string, { values: { messages: object[] }; tasks: object[] }>();
  const threadOf = (id: string) => threads.get(id) ?? { values: { messages: [] }, tasks: [] };
  const id = (): string => crypto.randomUUID();
  const begin = (
    threadId: string,
    body: Record<string, any>,
    headers: Record<string, unknown>,
  ): ServedRun => {
    const same = runs.find((run) => run.headers["idempotency-key"] === headers["idempotency-key"]);
    if (headers["idempotency-key"] !== undefined && same !== undefined) return same;
    for (const run of runs)
      if (run.threadId === threadId && run.status === "running") run.status = "interrupted";
    const run = { threadId, runId: id(), status: "running", body, headers };
    runs.push(run);
    const human = body.input.messages.map(({ content }: { content: string }) => ({ type: "human", content }));
    threadOf(threadId).values.messages.push(...human);
    return run;
  };
  const ofThread = (thread: string) => runs.filter(({ threadId }) => threadId === thread);
  const routes: readonly [RegExp, (match: readonly string[], body: any, headers: any) => unknown][] = [
    [
      /^POST \/threads$/,
      (_, { thread_id: given }) => {
        const thread = given ?? id();
        if (!threads.has(thread)) threads.set(thread, { values: { messages: [] }, tasks: [] });
        return { thread_id: thread, status: "idle" };
      },
    ],
    [
      /^POST \/threads\/([\w-]+)\/runs$/,
      ([thread = ""], body, headers) => shown(begin(thread, body, headers)),
    ],
    [
      /^GET \/threads\/[\w-]+\/runs\/([\w-]+)$/,
      ([run = ""]) => shown(runs.find(({ runId }) => runId === run)),
    ],
    [
      /^GET \/threads\/([\w-]+)$/,
      ([thread = ""]) => ({ thread_id: thread, status: statusOf(ofThread(thread)), ...notes.get(thread) }),
    ],
    [/^GET \/threads\/([\w-]+)\/runs\?limit=1$/, ([thread = ""]) => ofThread(thread).slice(-1).map(shown)],
    [/^GET \/threads\/([\w-]+)\/state$/, ([thread = ""]) => threadOf(thread)],
    [
      /^POST \/threads\/[\w-]+\/runs\/([\w-]+)\/cancel\?wait=0&action=interrupt&tasks=1$/,
      ([id = ""]) => {
        const run = runs.find(({ runId }) => runId === id);
        if (run) run.status = "interrupted";
        return {};
      },
    ],
  ];
  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    if (self.answer) return self.answer(request, response);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    for (const [pattern, route] of routes) {
      const match = pattern.exec(line);
      const answer =
        match && route(match.slice(1), text === "" ? undefined : JSON.parse(text), request.headers);
      if (!answer) continue;
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify(answer));
    }
    response.writeHead(404, { "content-type": "application/json" });
    return response.end(JSON.stringify({ detail: "There is no such thing." }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const self: AgentServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    requests,
    notes,
    answer: undefined,
    finish(run, text) {
      threadOf(run.threadId).values.messages.push({ type: "ai", content: [{ type: "text", text }] });
      run.status = "success";
    },
    fail(run, message) {
      threadOf(run.threadId).tasks.push({ error: message });
      run.status = "error";
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

function statusOf(runs: readonly ServedRun[]): string {
  if (runs.some(({ status }) => status === "running")) return "busy";
  return runs.at(-1)?.status === "error" ? "error" : "idle";
}

function shown(run: ServedRun | undefined): object | undefined {
  return run && { run_id: run.runId, thread_id: run.threadId, status: run.status };
}
