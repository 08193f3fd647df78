/** The agent that is served without a file: the one of `deepwright run`, in the current directory. */
import { randomUUID } from "node:crypto";
import type { Mcp } from "@deepwright/mcp";
import { AgentKinds, ApprovalModes, type ApprovalModesOptions, ModelChoices } from "@deepwright/server";
import type { BackendProtocol, InterruptOnConfig } from "deepwright";
import { isAttended } from "../approval/approver.ts";
import { boundSandboxOfServer } from "../commands/bound-sandbox.ts";
import { commandGate } from "../commands/command-gate.ts";
import { type Commands, closeCommands } from "../commands/commands.ts";
import { openCommands } from "../commands/open-commands.ts";
import { type SandboxOptions, sandboxWithSettings } from "../commands/sandbox-kind.ts";
import { placeOf, type ThreadSandbox } from "../commands/thread-sandbox.ts";
import { hookedQuestions, runHooks } from "../hooks/hooked-questions.ts";
import { choiceLine, type ModelChoice, modelName } from "../model/choice.ts";
import { chooseModel, type ModelWish } from "../model/choose.ts";
import type { Effort } from "../model/effort.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import { agentAdditions, loadNamedModels } from "../run/agent-additions.ts";
import { directoryWarning } from "../run/directory.ts";
import { knowledgeLine } from "../run/knowledge.ts";
import { ASKING, knowledgeOptions, OWN_DIRECTORY, SOME_COMMANDS } from "../run/make-agent.ts";
import { budgetOf, type Limits } from "../run/run-limits.ts";
import { type AskTrust, openRunSettings, openUserFiles } from "../run/run-settings.ts";
import { type DirectoryFiles, openDirectory, openWorkplace, type Workplace } from "../run/workplace.ts";
import type { CommandJudge } from "../settings/command-rules.ts";
import type { LoadedSettings } from "../settings/load-settings.ts";
import { settingsWish } from "../settings/model-wish.ts";
import type { Settings } from "../settings/schema.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { trustLine } from "../trust/directory-trust.ts";
import { openWebTools } from "../web/web-tools.ts";

export interface OwnAgent {
  readonly agent: object;
  readonly choice: ModelChoice;
  /** The model of the agent. */
  readonly model: Awaited<ReturnType<typeof loadModel>>;
  readonly settings: Settings;
  readonly loaded: LoadedSettings;
  /** Undefined where the settings have no command rules. */
  readonly judge: CommandJudge | undefined;
  /** The files of the directory, under the permissions of the settings. */
  readonly files: BackendProtocol;
  readonly workplace: Workplace;
  /** Absent: the agent has no commands. */
  readonly commands: Commands | undefined;
  readonly mcp: Mcp | undefined;
  readonly modes: ApprovalModes;
  /** Subagents that the person wrote as files. */
  readonly userAgents: Awaited<ReturnType<typeof openUserFiles>>["agents"];
  /** Commands that the person wrote as files. */
  readonly userCommands: Awaited<ReturnType<typeof openUserFiles>>["commands"];
  /** Ends the commands of all threads. Safe twice. */
  close(): Promise<void>;
}

export interface OwnAgentOptions extends ModelWish, Pick<ApprovalModesOptions, "initial" | "rules" | "save"> {
  readonly mcp?: boolean;
  /** Limits of a run where the settings have no such limit. Absent: usage is counted only with a budget of the settings. */
  readonly budget?: Limits;
  /** Whether a run may be begun as another kind of agent, or with another model that this machine can use. Default false. */
  readonly offersChoices?: boolean;
  /** Whether questions may be put to the terminal while it starts. Default: where somebody is there. */
  readonly mayAsk?: boolean;
  readonly effort?: Effort;
  /** MCP servers beside those of files and settings, by name. */
  readonly servers?: Readonly<Record<string, Record<string, unknown>>>;
  readonly editor?: EditorParts;
  /** Asks about settings of the project in another way. */
  readonly askTrust?: AskTrust | undefined;
}

/** Parts of an agent that an editor provides. */
export interface EditorParts {
  /** The files of the directory with the texts of open buffers. */
  readonly files: (disk: BackendProtocol) => BackendProtocol;
  /** Middleware for the agent and its subagents. */
  readonly guard: object;
  /** Commands in terminals of the editor, without a sandbox; absent: in ours. */
  readonly commands?: Commands;
}

/** `directory` is a real path. */
export async function openOwnAgent(
  directory: string,
  {
    initial,
    rules,
    save,
    mayAsk = isAttended(process, process.env),
    askTrust,
    effort,
    editor,
    ...wish
  }: OwnAgentOptions,
  console: Console,
): Promise<OwnAgent> {
  await warnOf(directory, console);
  const set = await openRunSettings({ directory, console, isAttended: mayAsk, isTrusted: false, askTrust });
  const { settings } = set;
  const choice = await chooseModel({ ...wish, settings: settingsWish(set.loaded) }, process.env, endpoints);
  console.line(safeLine(choiceLine(choice)));
  const [library, model] = await Promise.all([import("deepwright"), loadModel(choice, effort)]);
  const asked = { ...wish, mayAsk, servers: { ...settings.mcpServers, ...wish.servers } };
  const mcp = await mcpFor(directory, asked, choice.kind === "offline", console);
  const files = withBuffers(await openDirectory(directory, set.hookFiles), editor);
  const own = await openUserFiles(directory, files.disk, false);
  const named = [...(settings.fallbacks ?? []), ...own.agents.map(({ modelName }) => modelName)];
  const models = await loadNamedModels(named, console);
  const sandbox = sandboxFor(directory, settings, editor);
  const commands = editor?.commands ?? (await commandsFor(files, sandbox, console));
  const workplace = await workplaceOf(files, settings, commands);
  const { knowledge, trust } = workplace;
  const lines = [own.line, ...knowledge.warnings, knowledgeLine(knowledge), trustLine(trust, directory)];
  sayLines(lines, console);
  const { middleware, ...known } = knowledgeOptions(library, { console, workplace });
  const modes = modesFor({ initial: initial ?? settings.mode, rules, save }, commands);
  const { mode: _, ...withoutMode } = settings;
  const inFront = [modes.guard, ...(await otherGuards({ ...wish, editor }, choice, model))];
  const additions = agentAdditions(
    library,
    { ...set, settings: withoutMode },
    { agents: own.agents, models, mcp, inFront },
  );
  const web = await openWebTools(sandbox.hosts, placeOf(sandbox), process.env);
  const agent = library.createDeepAgent({
    model,
    tools: web.tools,
    backend: workplace.backend,
    ...known,
    ...additions.options,
    middleware: [
      ...[...middleware, ...additions.middleware, ...runHooks(set.hooks)],
      ...(await kindGuard(wish)),
      boundSandboxOfServer(sandbox),
    ],
    systemPrompt: { suffix: promptWords(additions.words, commands !== undefined) },
    interruptOn: hookedQuestions(
      modes.gate({ ...questions(sandbox, commands, set.judge), ...web.interruptOn, ...mcp?.interruptOn }),
      set.hooks,
    ),
    ...budgetFor(settings.budget, wish.budget, choice),
  } as never);
  return {
    agent,
    choice,
    model,
    settings,
    loaded: set.loaded,
    judge: set.judge,
    files: library.guardBackend(files.disk, settings.permissions ?? []) as BackendProtocol,
    workplace,
    commands,
    mcp,
    modes,
    userAgents: own.agents,
    userCommands: own.commands,
    close: () => closed(commands, mcp),
  };
}

function workplaceOf(files: DirectoryFiles, { memory }: Settings, commands: Commands | undefined) {
  const wish = { dryRun: false, memory: true, skills: true, trust: false, memoryFiles: memory?.files };
  return openWorkplace(files, wish, commands, process.env);
}

async function warnOf(directory: string, console: Console): Promise<void> {
  const warning = await directoryWarning(directory);
  if (warning !== undefined) console.line(console.colours.yellow(safeLine(warning)));
}

/** The editor's, and that of the models of servers on this machine and of providers with a key. */
async function otherGuards(
  {
    offersChoices,
    editor,
  }: Pick<OwnAgentOptions, "offersChoices"> & { readonly editor: EditorParts | undefined },
  choice: ModelChoice,
  model: unknown,
): Promise<readonly object[]> {
  const guards = editor ? [editor.guard] : [];
  if (!offersChoices) return guards;
  const { offeredModels } = await import("./offered-models.ts");
  const others = await offeredModels(modelName(choice), process.env);
  return Object.keys(others).length === 0 ? guards : [...guards, new ModelChoices({ model, others }).guard];
}

function budgetFor(own: Settings["budget"], usual: Limits | undefined, choice: ModelChoice): object {
  return own || usual ? { budget: budgetOf({ ...usual, ...own }, choice) ?? {} } : {};
}

/** Side by side with a person, or leading subagents. */
async function kindGuard({ offersChoices }: OwnAgentOptions): Promise<readonly object[]> {
  if (!offersChoices) return [];
  const { MODE_WORDS } = await import("@deepwright/app");
  return [new AgentKinds({ words: MODE_WORDS }).guard];
}

function withBuffers(files: DirectoryFiles, editor: EditorParts | undefined): DirectoryFiles {
  return editor ? { ...files, disk: editor.files(files.disk) } : files;
}

/** What is approved in a sandbox does not run in a terminal of the editor, and the other way round. */
function sandboxFor(directory: string, settings: Settings, editor: EditorParts | undefined): ThreadSandbox {
  const sandbox = { ...sandboxWithSettings(SANDBOX, settings), directory };
  return editor?.commands ? { ...sandbox, kind: "none" } : sandbox;
}

async function closed(commands: Commands | undefined, mcp: Mcp | undefined): Promise<void> {
  await Promise.all([
    closeCommands(commands && Promise.resolve(endingAll(commands))),
    closeCommands(mcp && Promise.resolve(mcp)),
  ]);
}

function promptWords(words: string, hasCommands: boolean): string {
  return [OWN_DIRECTORY, words, ASKING, hasCommands ? SOME_COMMANDS : ""].filter(Boolean).join(" ");
}

function sayLines(lines: readonly (string | undefined)[], console: Console): void {
  for (const line of lines) if (line) console.line(line);
}

function modesFor(
  {
    initial,
    rules = [],
    save,
  }: { readonly [Key in "initial" | "rules" | "save"]: ApprovalModesOptions[Key] | undefined },
  commands: Commands | undefined,
): ApprovalModes {
  return new ApprovalModes({
    ...(initial && { initial }),
    ...(save && { save }),
    rules,
    isContained: commands !== undefined && commands.kind !== "none",
    wordsOf: async (command) => {
      const { createCommandRules } = await import("@deepwright/sandboxes/command-rules");
      return createCommandRules([]).judge(command).words;
    },
  });
}

/** Remembered approvals hold in this directory only. */
function questions(
  sandbox: ThreadSandbox,
  commands: Commands | undefined,
  judge: CommandJudge | undefined,
): Record<string, InterruptOnConfig> {
  const { directory } = sandbox;
  const place = placeOf(sandbox);
  const changes = { rememberedFor: place };
  return {
    ...{ write_file: changes, edit_file: changes, delete: changes },
    ...(commands && { execute: commandGate(commands, { directory, place, judge }) }),
  };
}

async function mcpFor(
  directory: string,
  {
    mcp,
    mayAsk,
    servers,
  }: Pick<OwnAgentOptions, "mcp"> & {
    readonly mayAsk: boolean;
    readonly servers?: Settings["mcpServers"];
  },
  isOffline: boolean,
  console: Console,
): Promise<Mcp | undefined> {
  if (mcp === false || isOffline) return undefined;
  const { openRunMcp } = await import("../mcp/open-run-mcp.ts");
  return openRunMcp({
    directory,
    console,
    isAttended: mayAsk,
    isQuiet: false,
    servers,
  });
}

const SANDBOX: SandboxOptions = { kind: "os", isAskedFor: false, hosts: [] };

async function commandsFor(
  { disk, controlPaths }: DirectoryFiles,
  sandbox: ThreadSandbox,
  console: Console,
): Promise<Commands | undefined> {
  const opened = await openCommands({
    ...sandbox,
    files: disk,
    controlPaths,
    // Nobody else's: another app or server would end a sandbox that it finds under the same name.
    threadId: randomUUID(),
    isKept: false,
    signal: new AbortController().signal,
    onWait: () => {},
  });
  if (opened === undefined) return undefined;
  console.line(safeLine("why" in opened ? opened.why.replace("in this run", "here") : opened.line, 500));
  return "why" in opened ? undefined : opened;
}

/** Each thread has a lease of its own: the source of them is closed too. */
function endingAll(commands: Commands): Commands {
  const source = commands.backend as { close?: () => Promise<void> } | undefined;
  return {
    ...commands,
    close: async () => {
      await commands.close();
      await source?.close?.();
    },
  };
}
