/**
 * A process that runs agents on a database and that may be killed or stopped at any moment.
 *
 * Started with the database's path or URL as its argument and a channel to its parent, with which it ends.
 */
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { PostgresSaver } from "../postgres/postgres-saver.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { type Database, openDatabase } from "../sqlite/driver.ts";
import { SqliteSaver } from "../sqlite/sqlite-saver.ts";
import { messagesOf, outline, plannedAgent, storedCalls } from "./agent.ts";
import type { RunResult, WorkerReply, WorkerRequest } from "./plan.ts";
import { integrityOf } from "./sqlite-file.ts";

type RunRequest = Extract<WorkerRequest, { act: "run" }>;

const RESOLUTION_MS = 10;
let delay: IntervalHistogram | undefined;
let locked: Database | undefined;

async function run(saver: SharedSaver, request: RunRequest): Promise<RunResult> {
  const { plan, claim, log } = request;
  const agent = plannedAgent(saver, plan, claim, log);
  const config = { configurable: { thread_id: plan.thread }, durability: "sync" as const };
  if (request.how === undefined && (await isDone(saver, agent, plan.thread)))
    return { messages: outline(await messagesOf(saver, plan.thread)), interrupts: 0 };
  const state = (await agent.invoke(await inputFor(saver, request), config)) as {
    messages: BaseMessage[];
    __interrupt__?: unknown[];
  };
  return { messages: outline(state.messages), interrupts: state.__interrupt__?.length ?? 0 };
}

/** Tasks whose writes are stored are not in `next`, yet their checkpoint is still to come. */
async function isDone(
  saver: SharedSaver,
  agent: ReturnType<typeof plannedAgent>,
  thread: string,
): Promise<boolean> {
  const config = { configurable: { thread_id: thread } };
  if ((await saver.getTuple(config)) === undefined) return false;
  return (await agent.getState(config)).tasks.length === 0;
}

/** Nothing stored means that the message was never acknowledged and must be sent again. */
async function inputFor(saver: SharedSaver, { how, plan }: RunRequest) {
  if (how === "approve") {
    const decisions = Array.from({ length: plan.callsPerTurn ?? 1 }, () => ({ type: "approve" }));
    return new Command({ resume: { decisions } });
  }
  const stored = await saver.getTuple({ configurable: { thread_id: plan.thread } });
  if (how === undefined && stored !== undefined) return null;
  return { messages: [new HumanMessage(plan.text)] };
}

function watch(): void {
  delay?.disable();
  delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
}

/** The timer that measures sleeps for its resolution; what is beyond that is stall. */
function stall(): number {
  return Math.max(0, (delay?.max ?? 0) / 1e6 - RESOLUTION_MS);
}

function lock(path: string): void {
  locked = openDatabase(path, { timeout: 60_000, enableForeignKeyConstraints: false });
  locked.exec("BEGIN EXCLUSIVE");
}

function unlock(): void {
  locked?.exec("ROLLBACK");
  locked?.close();
}

function fill(path: string, leave: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leave), 1));
}

async function answer(saver: SharedSaver, request: WorkerRequest): Promise<unknown> {
  switch (request.act) {
    case "run":
      return run(saver, request);
    case "stored":
      return storedCalls(saver, request.thread);
    case "messages":
      return outline(await messagesOf(saver, request.thread));
    case "watch":
      return watch();
    case "stall":
      return stall();
    case "lock":
      return lock(request.path);
    case "unlock":
      return unlock();
    case "check":
      return integrityOf(request.path);
    case "remove":
      return rmSync(request.path);
    case "fill":
      return fill(request.path, request.leave);
  }
}

function send(reply: WorkerReply): void {
  process.send?.(reply);
}

const place = process.argv[2] ?? "";
process.on("disconnect", () => process.exit());
const saver = place.startsWith("postgres") ? await PostgresSaver.open(place) : await SqliteSaver.open(place);
process.on("message", ({ id, request }: { id: number; request: WorkerRequest }) => {
  answer(saver, request).then(
    (value) => send({ id, value }),
    ({ code, message, stack }: Error & { code?: string }) => send({ id, failure: { code, message, stack } }),
  );
});
send({ id: "ready" });
