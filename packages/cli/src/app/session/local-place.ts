/** The server in this process: the CLI's own agent on the threads of `deepwright run`. Loads the library. */
import { openThreads } from "@deepwright/checkpoint";
import { createClient } from "@deepwright/protocol";
import { createApp, openRecords } from "@deepwright/server";
import { MODEL_PRICES } from "deepwright";
import { modelName } from "../../model/choice.ts";
import { openOwnAgent } from "../../serve/own-agent.ts";
import type { Settings } from "../../settings/schema.ts";
import { databaseOf, openDatabase } from "../../state/database.ts";
import { Console } from "../../terminal/console.ts";
import type { Place, PlaceOptions } from "./place.ts";
import { loadRules, saveRule } from "./project-rules.ts";

const AGENT = "agent";
/** The owner of everything on a server with one token. */
const OWNER = "local";

/** Runs end with this process; threads last, in the database of `deepwright run`. */
export async function openLocal(options: PlaceOptions, environment: NodeJS.ProcessEnv): Promise<Place> {
  const { directory, mode, db } = options;
  const notices: string[] = [];
  const own = await openOwnAgent(
    directory,
    {
      model: options.model,
      baseUrl: options.baseUrl,
      ...(options.mcp === undefined ? {} : { mcp: options.mcp }),
      ...(mode && { initial: mode }),
      rules: await loadRules(directory, environment),
      mayAsk: false,
    },
    collecting(notices, environment),
  );
  const saver = await openDatabase(databaseOf(db, environment));
  const records = await openRecords({ sqlite: ":memory:" });
  const app = await createApp({
    agents: { [AGENT]: own.agent as never },
    saver,
    records,
    store: null,
    mcp: false,
    drainMs: 1_000,
    onError: () => {},
  });
  const { commands, workplace, choice, modes, mcp } = own;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      await app.close();
      await Promise.all([own.close(), saver.close(), records.close()]);
    })();
    return closed;
  };
  return {
    client: createClient({ baseUrl: "http://localhost", fetch: app.fetch, token: app.token as string }),
    assistant: AGENT,
    model: modelName(choice),
    isOffline: choice.kind === "offline",
    sandbox: commands === undefined ? "no commands" : `${commands.kind} sandbox`,
    mode: own.settings.mode,
    notices,
    close,
    local: {
      directory,
      threads: openThreads(saver),
      modes,
      controlPaths: workplace.controlPaths,
      skills: workplace.knowledge.skills.map(String),
      memory: workplace.knowledge.memory.map(String),
      mcp: (mcp?.tools ?? []).map(({ name }) => name),
      userCommands: own.userCommands,
      costOf: (usage) => costOf(modelName(choice), usage),
      budget: budgetWords(own.settings.budget),
      adopt: (threadId) => adopt(records, threadId),
      execute: commands && ((command, signal) => executed(commands, command, signal)),
      remember: async (rule) => {
        modes.allow(rule);
        await saveRule(rule, directory, environment);
      },
    },
  };
}

const PER_MILLION = 1_000_000;

/** Undefined for a model without a known price. */
function costOf(
  model: string,
  { input, output }: { readonly input: number; readonly output: number },
): number | undefined {
  const name = model.slice(model.indexOf(":") + 1);
  const price = MODEL_PRICES[name];
  return price && (input * price.input + output * price.output) / PER_MILLION;
}

function budgetWords(budget: Settings["budget"]): string | undefined {
  if (budget?.maxCost !== undefined) return `≤ $${budget.maxCost} a run`;
  return budget?.maxTokens === undefined ? undefined : `≤ ${budget.maxTokens} tokens a run`;
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
