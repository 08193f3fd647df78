/** The agent that is served where nobody gives another: that of `deepwright run`, in the current directory. */
import type { Mcp } from "@deepwright/mcp";
import type { InterruptOnConfig } from "deepwright";
import { isAttended } from "../approval/approver.ts";
import { boundSandboxOfServer } from "../commands/bound-sandbox.ts";
import { commandGate } from "../commands/command-gate.ts";
import { type Commands, closeCommands } from "../commands/commands.ts";
import { openCommands } from "../commands/open-commands.ts";
import type { SandboxOptions } from "../commands/sandbox-kind.ts";
import { placeOf, type ThreadSandbox } from "../commands/thread-sandbox.ts";
import { choiceLine } from "../model/choice.ts";
import { chooseModel, type ModelWish } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import { directoryWarning } from "../run/directory.ts";
import { knowledgeLine } from "../run/knowledge.ts";
import { ASKING, knowledgeOptions, mcpMiddleware, OWN_DIRECTORY, SOME_COMMANDS } from "../run/make-agent.ts";
import { type DirectoryFiles, openDirectory, openWorkplace } from "../run/workplace.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { trustLine } from "../trust/directory-trust.ts";

export interface OwnAgent {
  readonly agent: object;
  /** Ends the commands of all threads. Safe twice. */
  close(): Promise<void>;
}

/** `directory` is a real path. */
export async function openOwnAgent(
  directory: string,
  wish: ModelWish & { readonly mcp?: boolean },
  console: Console,
): Promise<OwnAgent> {
  const warning = await directoryWarning(directory);
  if (warning !== undefined) console.line(console.colours.yellow(safeLine(warning)));
  const choice = await chooseModel(wish, process.env, endpoints);
  console.line(safeLine(choiceLine(choice)));
  const [library, model] = await Promise.all([import("deepwright"), loadModel(choice)]);
  const mcp = await mcpFor(directory, wish, choice.kind === "offline", console);
  const files = await openDirectory(directory);
  const commands = await commandsFor(files, console);
  const workplace = await openWorkplace(
    files,
    { dryRun: false, memory: true, skills: true, trust: false },
    commands,
    process.env,
  );
  const { knowledge } = workplace;
  const lines = [...knowledge.warnings, knowledgeLine(knowledge), trustLine(workplace.trust, directory)];
  for (const line of lines) if (line) console.line(line);
  const sandbox = { ...SANDBOX, directory };
  const { middleware, ...known } = knowledgeOptions(library, { console, workplace });
  const agent = library.createDeepAgent({
    model,
    backend: workplace.backend,
    ...known,
    middleware: [...middleware, ...mcpMiddleware(library, mcp), boundSandboxOfServer(sandbox)],
    systemPrompt: {
      suffix: [OWN_DIRECTORY, ASKING, commands ? SOME_COMMANDS : ""].filter(Boolean).join(" "),
    },
    interruptOn: { ...questions(sandbox, commands), ...mcp?.interruptOn },
  } as never);
  const close = async (): Promise<void> => {
    await Promise.all([
      closeCommands(commands && Promise.resolve(endingAll(commands))),
      closeCommands(mcp && Promise.resolve(mcp)),
    ]);
  };
  return { agent, close };
}

/** What is approved for longer holds in this directory alone. */
function questions(
  sandbox: ThreadSandbox,
  commands: Commands | undefined,
): Record<string, InterruptOnConfig> {
  const { directory } = sandbox;
  const place = placeOf(sandbox);
  const changes = { rememberedFor: place };
  return {
    ...{ write_file: changes, edit_file: changes, delete: changes },
    ...(commands && { execute: commandGate(commands, { directory, place }) }),
  };
}

async function mcpFor(
  directory: string,
  { mcp }: { readonly mcp?: boolean },
  isOffline: boolean,
  console: Console,
): Promise<Mcp | undefined> {
  if (mcp === false || isOffline) return undefined;
  const { openRunMcp } = await import("../mcp/open-run-mcp.ts");
  return openRunMcp({ directory, console, isAttended: isAttended(process, process.env), isQuiet: false });
}

const SANDBOX: SandboxOptions = { kind: "os", isAskedFor: false, hosts: [] };

async function commandsFor(
  { directory, disk, controlPaths }: DirectoryFiles,
  console: Console,
): Promise<Commands | undefined> {
  const opened = await openCommands({
    ...SANDBOX,
    directory,
    files: disk,
    controlPaths,
    threadId: "serve",
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
