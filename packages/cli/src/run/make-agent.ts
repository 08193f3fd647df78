/** The agent of a run, made from the options of the command line. */
import type { Mcp } from "@deepwright/mcp";
import { Annotation } from "@langchain/langgraph";
import type { InterruptOnConfig } from "deepwright";
import { boundSandbox } from "../commands/bound-sandbox.ts";
import { commandGate } from "../commands/command-gate.ts";
import type { Commands } from "../commands/commands.ts";
import { placeOf, SANDBOX, type ThreadSandbox } from "../commands/thread-sandbox.ts";
import { hookedQuestions } from "../hooks/hooked-questions.ts";
import type { ModelChoice } from "../model/choice.ts";
import { CLAIM_SECONDS } from "../state/other-run.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { WebTools } from "../web/web-tools.ts";
import type { AgentAdditions } from "./agent-additions.ts";
import { ASKED, type Asked, askedTools, type KnownTool, mayAsk } from "./asked-tools.ts";
import type { RunnableAgent } from "./run-agent.ts";
import { budgetOf } from "./run-limits.ts";
import type { RunOptions } from "./run-options.ts";
import type { RunSettings } from "./run-settings.ts";
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
  readonly sandbox: ThreadSandbox;
  readonly commands: Commands | undefined;
  readonly mcp: Mcp | undefined;
  readonly settings: RunSettings;
  readonly additions: AgentAdditions;
  readonly web: WebTools;
}

export interface MadeAgent {
  readonly agent: RunnableAgent;
  /** Values to store with the thread, by state key. */
  readonly keeps: Record<string, unknown>;
}

/** Names in --ask must be tools: a typo would leave a tool without a question. */
export function makeAgent(library: Library, parts: AgentParts): MadeAgent {
  const { options, commands, mcp, sandbox } = parts;
  const place = placeOf(sandbox);
  const { directory } = parts.workplace;
  const { judge, settings: set } = parts.settings;
  const isOpen =
    set.mode === "auto" && commands !== undefined && commands.kind !== "none" && judge === undefined;
  const gate = {
    ...(commands && !isOpen && { [EXECUTE]: commandGate(commands, { directory, place, judge }) }),
    ...parts.web.interruptOn,
    ...mcp?.interruptOn,
  };
  const { hooks } = parts.settings;
  const settings = { ...settingsOf(library, parts), interruptOn: hookedQuestions(gate, hooks) };
  const asked = withoutGated(parts);
  if (!mayAsk(options.ask, asked)) {
    const agent = library.createDeepAgent(settings as never);
    return { agent: agent as unknown as RunnableAgent, keeps: { [SANDBOX]: sandbox } };
  }
  const asks = askedTools(options.ask, asked, knownTools(library, settings, mcp));
  const fully = Object.fromEntries(asks.map((tool) => [tool, askedFully(tool, parts)]));
  const agent = library.createDeepAgent({
    ...settings,
    interruptOn: hookedQuestions({ ...gate, ...fully }, hooks),
    systemPrompt: promptOf(parts, asks.length > 0),
    middleware: [...settings.middleware, ASKED_STATE],
  } as never);
  return { agent: agent as unknown as RunnableAgent, keeps: { [SANDBOX]: sandbox, [ASKED]: asks } };
}

const EXECUTE = "execute";

/** Each name once. Commands come with the sandbox, tools of servers when they are found. */
function knownTools(library: Library, settings: object, mcp: Mcp | undefined): readonly KnownTool[] {
  const described = library.createDeepAgent(settings as never).describe().tools;
  const ofServers = mcp?.tools.map((tool) => ({ name: tool.name, effect: library.toolEffect(tool) })) ?? [];
  const commands: KnownTool = { name: EXECUTE, effect: "commands" };
  const all = [...described, commands, ...ofServers];
  return all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
}

/** Asks about every call of the tool. A lasting approval applies to this sandbox alone. */
function askedFully(tool: string, { commands, sandbox }: AgentParts): InterruptOnConfig {
  const says = commands && tool === EXECUTE ? { description: commands.reach } : {};
  return { ...says, rememberedFor: placeOf(sandbox) };
}

/** A call that waits and is known by the gate is no reason to ask about all of its tool from now on. */
function withoutGated({ asked: { kept, waiting }, commands, mcp }: AgentParts): Asked {
  const isGated = (tool: string): boolean =>
    (commands !== undefined && tool === EXECUTE) || (mcp?.tools.some(({ name }) => name === tool) ?? false);
  return { kept, waiting: waiting.filter((tool) => !isGated(tool)) };
}

const ASKED_STATE = {
  name: "AskedToolsMiddleware",
  stateSchema: Annotation.Root({ [ASKED]: Annotation<readonly string[]>() }),
};

function settingsOf(library: Library, parts: AgentParts) {
  const { options, choice, model, workplace, thread, sandbox, commands, mcp, additions } = parts;
  const { middleware, ...knowledge } = knowledgeOptions(library, parts);
  return {
    model,
    backend: workplace.backend,
    ...knowledge,
    ...additions.options,
    tools: parts.web.tools,
    middleware: [...middleware, ...additions.middleware, boundSandbox(sandbox)],
    systemPrompt: promptOf(parts, (commands !== undefined || mcp !== undefined) && !options.yes),
    checkpointer: thread.saver,
    threadClaim: { mode: "refuse", ttl: CLAIM_SECONDS } as const,
    budget: budgetOf({ ...parts.settings.settings.budget, ...options.limits }, choice) ?? null,
  };
}

function promptOf(
  { options: { system, yes }, commands, additions }: Pick<AgentParts, "options" | "commands" | "additions">,
  asks: boolean,
): { readonly prefix?: string; readonly suffix: string } {
  const words = [
    commands?.isElsewhere ? "" : OWN_DIRECTORY,
    NOBODY,
    additions.words,
    asks ? ASKING : "",
    commands && !yes ? (commands.kind === "none" ? ALL_COMMANDS : SOME_COMMANDS) : "",
  ];
  return { ...(system === undefined ? {} : { prefix: system }), suffix: words.filter(Boolean).join(" ") };
}

export const OWN_DIRECTORY =
  "The files under / are the user's own directory: what you write, edit or delete there is changed at once.";

const NOBODY =
  "Nobody can answer questions during this run: do the task as far as you can, then give your answer.";

export const ASKING =
  "Some tool calls need approval before they run. What was refused must not be reached in another way.";

const ALL_COMMANDS = "Every command needs approval.";

export const SOME_COMMANDS =
  "A command that only looks, such as `ls`, `cat` or `git log`, runs at once if it stands alone, without pipes, redirects, variables or wildcards; every other command needs approval.";

/** Replaces the built-in middleware: it knows the read-only files and prints warnings. */
export function knowledgeOptions(
  library: Library,
  { console, workplace }: Pick<AgentParts, "console" | "workplace">,
) {
  const { memory, skills, readOnly } = workplace.knowledge;
  const untrusted = workplace.trust.sources;
  const onWarning = ({ message }: { readonly message: string }): void =>
    console.line(console.colours.yellow(`Warning: ${safeLine(message, 500)}`));
  return {
    memory,
    skills,
    untrusted,
    middleware: [
      ...(memory.length > 0 ? [library.createMemoryMiddleware({ sources: memory, readOnly })] : []),
      ...(skills.length > 0 ? [library.createSkillsMiddleware({ sources: skills, onWarning })] : []),
    ] as readonly unknown[],
  };
}
