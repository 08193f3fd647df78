/** Commands in a copy of a directory, and where copies are. */
import { join } from "node:path";
import { CommandError, usageError } from "../command-error.ts";
import type { Commands } from "../commands/commands.ts";
import { isCloud, type SandboxOptions } from "../commands/sandbox-kind.ts";
import { homeOf } from "../state/home.ts";
import type { Console } from "../terminal/console.ts";

/** Below the home of the person, not in their projects. */
export function copiesIn(environment: NodeJS.ProcessEnv): string {
  return join(homeOf(environment), "copies");
}

/** Removes the copies that processes left which ended before they could. */
export async function removeOldCopies(environment: NodeJS.ProcessEnv): Promise<void> {
  const { removeStaleCopies } = await import("@deepwright/checkpoint");
  await removeStaleCopies(copiesIn(environment));
}

/** Throws where no command can be run. The caller closes it. */
export async function commandsIn(
  directory: string,
  sandbox: SandboxOptions,
  { console, signal }: { readonly console: Console; readonly signal: AbortSignal },
): Promise<Commands> {
  if (isCloud(sandbox.kind) || sandbox.kind === "off")
    throw usageError(`The command runs on this machine: --sandbox ${sandbox.kind} is not possible here.`);
  const [{ openCommands }, { openDirectory }] = await Promise.all([
    import("../commands/open-commands.ts"),
    import("../run/workplace.ts"),
  ]);
  const { disk: files } = await openDirectory(directory);
  const onWait = (words: string): void => console.line(words);
  const request = { ...sandbox, directory, files, threadId: directory, isKept: false, signal, onWait };
  const opened = await openCommands(request);
  if (opened !== undefined && !("why" in opened)) return opened;
  throw new CommandError(opened?.why ?? "There is no sandbox.", {
    hint: "Without isolation: --sandbox none.",
  });
}
