/** The agent of a run, made of what the command line says. */
import { Annotation } from "@langchain/langgraph";
import type { ModelChoice } from "../model/choice.ts";
import { CLAIM_SECONDS } from "../state/other-run.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { ASKED, type Asked, askedTools, mayAsk } from "./asked-tools.ts";
import type { RunnableAgent } from "./run-agent.ts";
import { budgetOf } from "./run-limits.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunThread } from "./run-thread.ts";
import type { Workplace } from "./workplace.ts";

type Library = typeof import("deepwright");

export interface AgentParts {
  readonly options: RunOptions;
  readonly console: Console;
  readonly choice: ModelChoice;
  readonly model: Awaited<ReturnType<typeof import("../model/load.ts").loadModel>>;
  readonly workplace: Workplace;
  readonly thread: RunThread;
  readonly asked: Asked;
}

export interface MadeAgent {
  readonly agent: RunnableAgent;
  /** The tools a person is asked about. */
  readonly asks: readonly string[];
}

/** A name that --ask gives must be that of a tool: a slip would leave it unguarded. */
export function makeAgent(library: Library, parts: AgentParts): MadeAgent {
  const { options, asked } = parts;
  const settings = settingsOf(library, parts);
  const plain = library.createDeepAgent(settings as never);
  if (!mayAsk(options.ask, asked)) return { agent: plain as unknown as RunnableAgent, asks: [] };
  const known = plain.describe().tools.map(({ name }) => name);
  const asks = askedTools(options.ask, asked, known);
  const agent = library.createDeepAgent({
    ...settings,
    interruptOn: Object.fromEntries(asks.map((tool) => [tool, true])),
    systemPrompt: promptOf(options, asks.length > 0),
    middleware: [...settings.middleware, ASKED_STATE],
  } as never);
  return { agent: agent as unknown as RunnableAgent, asks };
}

const ASKED_STATE = {
  name: "AskedToolsMiddleware",
  stateSchema: Annotation.Root({ [ASKED]: Annotation<readonly string[]>() }),
};

function settingsOf(library: Library, parts: AgentParts) {
  const { options, choice, model, workplace, thread } = parts;
  return {
    model,
    backend: workplace.backend,
    ...knowledgeOptions(library, parts),
    systemPrompt: promptOf(options, false),
    checkpointer: thread.saver,
    threadClaim: { mode: "refuse", ttl: CLAIM_SECONDS } as const,
    budget: budgetOf(options.limits, choice) ?? null,
  };
}

function promptOf(
  { system }: RunOptions,
  asks: boolean,
): { readonly prefix?: string; readonly suffix: string } {
  const suffix = asks ? `${SITUATION} ${ASKING}` : SITUATION;
  return { ...(system === undefined ? {} : { prefix: system }), suffix };
}

const SITUATION =
  "The files under / are the user's own directory: what you write, edit or delete there is changed at once. " +
  "Nobody can answer questions during this run: do the task as far as you can, then give your answer.";

const ASKING =
  "Some tool calls need approval before they run. What was refused must not be reached in another way.";

/** In the place of the built-in ones: they know what cannot be changed, and whom to warn. */
function knowledgeOptions(library: Library, { console, workplace }: AgentParts) {
  const { memory, skills, readOnly } = workplace.knowledge;
  const onWarning = ({ message }: { readonly message: string }): void =>
    console.line(console.colours.yellow(`Warning: ${safeLine(message, 500)}`));
  return {
    memory,
    skills,
    middleware: [
      ...(memory.length > 0 ? [library.createMemoryMiddleware({ sources: memory, readOnly })] : []),
      ...(skills.length > 0 ? [library.createSkillsMiddleware({ sources: skills, onWarning })] : []),
    ] as readonly unknown[],
  };
}
