/** The server in this process: the CLI's own agent on the threads of `deepwright run`. Loads the library. */
import { openThreads } from "@deepwright/checkpoint";
import { createClient, type Usage } from "@deepwright/protocol";
import { type ApprovalModes, createApp, openRecords } from "@deepwright/server";
import { costOf, priceOf, windowOf } from "deepwright/internal";
import { modelName } from "../../model/choice.ts";
import { type OwnAgentOptions, openOwnAgent } from "../../serve/own-agent.ts";
import { databaseOf, openDatabase } from "../../state/database.ts";
import { removeOldSnapshots, snapshotLimits } from "../../state/old-snapshots.ts";
import { Console } from "../../terminal/console.ts";
import type { LocalPlace, Place, PlaceOptions } from "./place.ts";
import { forgetRule, loadRules, saveRule } from "./project-rules.ts";
import { requestSources } from "./request-sources.ts";
import { ThreadPast } from "./thread-past.ts";
import { writtenTitle } from "./thread-title.ts";

const AGENT = "agent";
/** The owner of everything on a server with one token. */
const OWNER = "local";

/** Runs end with this process; threads last, in the database of `deepwright run`. */
export async function openLocal(options: PlaceOptions, environment: NodeJS.ProcessEnv): Promise<Place> {
  const { directory, db } = options;
  const notices: string[] = [];
  const own = await openOwnAgent(
    directory,
    {
      model: options.model,
      baseUrl: options.baseUrl,
      ...partsOf(options),
      rules: await loadRules(directory, environment),
      mayAsk: false,
      askTrust: options.askTrust,
    },
    collecting(notices, environment),
  );
  const { app, saver, records } = await openServer(own.agent, directory, databaseOf(db, environment));
  const { commands, workplace, choice, modes, mcp } = own;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      await app.close();
      await removeOldSnapshots({ saver, db, limits: snapshotLimits(own.settings) }, environment);
      await Promise.all([own.close(), saver.close(), records.close()]);
    })();
    return closed;
  };
  const client = createClient({ baseUrl: "http://localhost", fetch: app.fetch, token: app.token as string });
  const threads = openThreads(saver);
  return {
    client,
    assistant: AGENT,
    model: modelName(choice),
    isOffline: choice.kind === "offline",
    sandbox: commands === undefined ? "no commands" : `${commands.kind} sandbox`,
    window: choice.kind === "offline" ? undefined : windowOf(own.model as never),
    mode: own.settings.mode,
    notices,
    close,
    past: new ThreadPast(client, directory),
    hasModes: true,
    rules: ["thread", "project"],
    budget: own.settings.budget ?? {},
    costOf: (usage, model) => dollars(model ?? modelName(choice), usage),
    sources: () => requestSources(own),
    rename: (threadId, title) => threads.rename(threadId, title),
    local: {
      directory,
      choice,
      threads,
      modes,
      controlPaths: workplace.controlPaths,
      skills: workplace.knowledge.skills.map(String),
      memory: workplace.knowledge.memory.map(String),
      mcp: (mcp?.tools ?? []).map(({ name }) => name),
      agents: own.userAgents,
      userCommands: own.userCommands,
      titleOf: (conversation) => writtenTitle(own, conversation),
      adopt: (threadId) => adopt(records, threadId),
      commandsLine: commands?.line,
      execute: commands && ((command, signal) => executed(commands, command, signal)),
      ...keptRules(modes, directory, environment),
    },
  };
}

/** The records of runs end with this process. */
async function openServer(agent: object, directory: string, database: ReturnType<typeof databaseOf>) {
  const saver = await openDatabase(database);
  const records = await openRecords({ sqlite: ":memory:" });
  const app = await createApp({
    agents: { [AGENT]: agent as never },
    saver,
    records,
    store: null,
    mcp: false,
    restoreRoots: [directory],
    drainMs: 1_000,
    onError: () => {},
  });
  return { app, saver, records };
}

function partsOf({ mcp, mode, effort, servers, editor }: PlaceOptions): Partial<OwnAgentOptions> {
  return {
    ...(mcp === undefined ? {} : { mcp }),
    ...(mode && { initial: mode }),
    ...(effort && { effort }),
    ...(servers && { servers }),
    ...(editor && { editor }),
  };
}

/** Undefined for a model without a known price. */
function dollars(model: string, { input, output, cached = 0 }: Usage): number | undefined {
  const price = priceOf(model.slice(model.indexOf(":") + 1));
  return price && costOf({ input, output, cacheRead: cached, cacheWrite: 0 }, price);
}

/** Lines that a start says, for the app to show. */
function collecting(lines: string[], environment: NodeJS.ProcessEnv): Console {
  const sink = { write: (text: string) => lines.push(...text.split("\n").filter((line) => line !== "")) };
  return new Console(sink, sink, environment);
}

/** A thread that is in the database gets a record; its state stays as it is. */
async function adopt(records: Awaited<ReturnType<typeof openRecords>>, threadId: string): Promise<void> {
  const now = new Date().toISOString();
  const thread = {
    owner: OWNER,
    thread_id: threadId,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    // The agent that reads the state.
    metadata: { graph_id: AGENT },
    status: "idle" as const,
    values: null,
    interrupts: {},
  };
  await records.threads.put(OWNER, thread, { ifExists: "do_nothing" });
}

async function executed(
  commands: {
    execute(command: string, options?: object): Promise<{ output: string; exitCode: number | null }>;
  },
  command: string,
  signal: AbortSignal,
): Promise<string> {
  const { output, exitCode } = await commands.execute(command, { signal });
  return exitCode === 0
    ? output
    : `${output}${output.endsWith("\n") || output === "" ? "" : "\n"}(exit code ${exitCode})`;
}

function keptRules(
  modes: ApprovalModes,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Pick<LocalPlace, "remember" | "forget"> {
  return {
    remember: async (rule) => {
      modes.allow(rule);
      await saveRule(rule, directory, environment);
    },
    forget: async (rule) => {
      modes.forget(rule);
      if (rule.threadId === undefined) await forgetRule(rule, directory, environment);
    },
  };
}
