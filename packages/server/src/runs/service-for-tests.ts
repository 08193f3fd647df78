/** A run service on a file of its own, and agents to run: for tests. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { type Script, scriptedModel } from "deepwright/testing";
import { z } from "zod";
import { afterThisFile, afterThisTest } from "../../../../scripts/test-cleanups.mjs";
import { until } from "../../../../scripts/test-time.ts";
import { type AgentSource, createAgentRegistry } from "../agents/registry.ts";
import { createInProcessQueue } from "../queue/in-process.ts";
import { openRecords } from "../records/open-records.ts";
import type { RunEvent, RunRecord } from "../records/records.ts";
import { createRunService, type RunServiceOptions } from "./run-service.ts";
import type { StartRun } from "./start-request.ts";

export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-runs-"));
  afterThisFile(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export const OWNER = "ada";

/** Seconds. A worker that lives keeps its runs, however slow the machine is. */
const LONG_CLAIM = 60;

export type Site = Awaited<ReturnType<typeof openSite>>;

export interface SiteOptions extends Partial<RunServiceOptions> {
  /** Another process, as far as the file is concerned: a second service on the same directory. */
  readonly directory?: string;
  /** Whether it works on runs from the start. Default true. */
  readonly works?: boolean;
}

export async function openSite(agents: Record<string, AgentSource>, options: SiteOptions = {}) {
  const { directory = scratchDirectory(), works = true, claimTtl = LONG_CLAIM, ...given } = options;
  const path = join(directory, "state.db");
  const saver = await SqliteSaver.open(path);
  const records = await openRecords({ sqlite: join(directory, "records.db") });
  const registry = createAgentRegistry({ agents, saver, claimTtl });
  const errors: unknown[] = [];
  const runs = createRunService({
    records,
    registry,
    saver,
    queue: createInProcessQueue(),
    claimTtl,
    pollInterval: 0.05,
    scanInterval: 0.2,
    onError: (error) => errors.push(error),
    ...given,
  });
  if (works) await runs.open();
  let closed: Promise<void> | undefined;
  const close = (limitMs = 2_000) => {
    closed ??= (async () => {
      await runs.close({ limitMs });
      registry.close();
      await records.close();
      await saver.close();
    })();
    return closed;
  };
  afterThisTest(close);
  return { runs, records, saver, registry, directory, errors, close };
}

/** An agent that plays a script, with tools. */
export function agentOf(script: Script, options: Parameters<typeof createDeepAgent>[0] = {}) {
  const model = scriptedModel(script);
  return { agent: createDeepAgent({ model, ...options } as never), model };
}

export function simpleTool(name: string, body: (args: any, runtime: any) => unknown) {
  return tool(body as never, { name, description: `The tool ${name}.`, schema: z.looseObject({}) } as never);
}

export function userSays(text: string) {
  return { messages: [{ role: "user", content: text }] };
}

/** Begins a run on a thread that is made if it is missing. */
export function begin(
  { runs }: Pick<Site, "runs">,
  threadId: string | undefined,
  request: Partial<StartRun["request"]>,
  more: Partial<StartRun> = {},
): Promise<RunRecord> {
  return runs.start({
    owner: OWNER,
    ...(threadId !== undefined && { threadId }),
    request: { assistant_id: "agent", if_not_exists: "create", ...request } as StartRun["request"],
    ...more,
  });
}

export async function eventsOf({ runs }: Pick<Site, "runs">, runId: string, after = 0): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of runs.stream(OWNER, runId, { after })) events.push(event);
  return events;
}

export const namesOf = (events: readonly RunEvent[]): string[] => events.map(({ event }) => event);

/** Texts of a thread's messages, as listings show them. */
export async function textsOf({ records }: Pick<Site, "records">, threadId: string): Promise<string[]> {
  const thread = await records.threads.get(OWNER, threadId);
  const { messages = [] } = (thread?.values ?? {}) as { messages?: { content: unknown }[] };
  return messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
}

/** A promise and what resolves it. */
export function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { open, opened };
}

/** Resolves when the run at work here has looked for mail that was sent before. */
export async function mailSeen({ records: { mail } }: Pick<Site, "records">): Promise<void> {
  const { waiting } = mail;
  let looks = 0;
  mail.waiting = (...given) => {
    looks += 1;
    return waiting.apply(mail, given);
  };
  // A run looks again when its look before is over.
  await until(() => looks > 1);
  mail.waiting = waiting;
}
