/** The agent that is served where nobody gives another: that of `deepwright run`, in the current directory. */
import type { InterruptOnConfig } from "deepwright";
import { commandGate } from "../commands/command-gate.ts";
import { type Commands, closeCommands } from "../commands/commands.ts";
import { openCommands } from "../commands/open-commands.ts";
import { choiceLine } from "../model/choice.ts";
import { chooseModel, type ModelWish } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import { directoryWarning } from "../run/directory.ts";
import { knowledgeLine } from "../run/knowledge.ts";
import { ASKING, knowledgeOptions, OWN_DIRECTORY, SOME_COMMANDS } from "../run/make-agent.ts";
import { openDirectory, openWorkplace } from "../run/workplace.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";

export interface OwnAgent {
  readonly agent: object;
  /** Ends the commands of all threads. Safe twice. */
  close(): Promise<void>;
}

/** `directory` is a real path. */
export async function openOwnAgent(directory: string, wish: ModelWish, console: Console): Promise<OwnAgent> {
  const warning = await directoryWarning(directory);
  if (warning !== undefined) console.line(console.colours.yellow(safeLine(warning)));
  const choice = await chooseModel(wish, process.env, endpoints);
  console.line(safeLine(choiceLine(choice)));
  const [library, model, files] = await Promise.all([
    import("deepwright"),
    loadModel(choice),
    openDirectory(directory),
  ]);
  const commands = await commandsFor(directory, files.disk, console);
  const workplace = await openWorkplace(
    files,
    { dryRun: false, memory: true, skills: true },
    commands,
    process.env,
  );
  const { knowledge } = workplace;
  for (const line of [...knowledge.warnings, knowledgeLine(knowledge)]) if (line) console.line(line);
  const interruptOn: Record<string, true | InterruptOnConfig> = {
    write_file: true,
    edit_file: true,
    delete: true,
    ...(commands && { execute: commandGate(commands, directory) }),
  };
  const agent = library.createDeepAgent({
    model,
    backend: workplace.backend,
    ...knowledgeOptions(library, { console, workplace }),
    systemPrompt: {
      suffix: [OWN_DIRECTORY, ASKING, commands ? SOME_COMMANDS : ""].filter(Boolean).join(" "),
    },
    interruptOn,
  } as never);
  return { agent, close: () => closeCommands(commands && Promise.resolve(endingAll(commands))) };
}

async function commandsFor(
  directory: string,
  files: Parameters<typeof openCommands>[0]["files"],
  console: Console,
): Promise<Commands | undefined> {
  const opened = await openCommands({
    kind: "os",
    isAskedFor: false,
    hosts: [],
    directory,
    files,
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
