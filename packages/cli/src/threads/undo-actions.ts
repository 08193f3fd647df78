/** `threads restore` and `threads blame`. */
import { usageError } from "../command-error.ts";
import { realDirectory } from "../run/directory.ts";
import { type Action, free, inHint } from "./actions.ts";
import { stepOf } from "./amounts.ts";
import { blameLines } from "./blame-lines.ts";
import { idWord, patchLines, rewindLines, shellWord, shortId } from "./lines.ts";
import { realFiles } from "./put-aside.ts";

export const restore: Action = async (context, [given = ""]) => {
  const { options, console } = context;
  const { call, agent, step, since } = options;
  if ([options.path, call, agent, step, since].every((one) => one === undefined))
    throw usageError("Nothing to restore was given.", "Give --path, --call, --agent, --step or --since.");
  const directory = await realDirectory(options.in ?? ".");
  const part = {
    ...{ path: options.path === undefined ? undefined : pathIn(directory, options.path), call, agent },
    step: step === undefined ? undefined : stepOf(step),
    since: since === undefined ? undefined : stepOf(since),
  };
  const roots = [directory];
  const threads = await context.threads();
  const threadId = await context.find(given);
  const plan = await threads.restore(threadId, part, { dryRun: true, roots });
  const planLines = ["Files would change:", ...rewindLines(plan), ...inHint(plan, directory)];
  const patches = patchLines(realFiles(plan.restored), console.resultColours);
  if (options.dryRun) return context.print({ threadId, ...plan }, [...planLines, ...patches]);
  const isNothing = plan.restored.length + plan.conflicts.length + plan.notCovered.length === 0;
  if (isNothing)
    return context.print({ threadId, ...plan }, ["Nothing to restore: files are as before these changes."]);
  if (!options.yes) for (const line of planLines) console.line(line);
  if (!(await context.allowed(`Restore files of the thread ${shortId(threadId)}?`))) return;
  await free(context, threadId);
  const done = await threads.restore(threadId, part, { roots });
  const where = options.in === undefined ? "" : ` --in ${shellWord(options.in)}`;
  const undo =
    done.call && `Undo: deepwright threads restore ${idWord(threadId)} --call ${done.call}${where}`;
  context.print({ threadId, ...done }, ["Restored:", ...rewindLines(done), ...(undo ? [undo] : [])]);
};

/** Also for the whole path on this machine, as a file manager gives it. */
function pathIn(directory: string, path: string): string {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length) : path;
}

export const blame: Action = async (context, [given = "", file = ""]) => {
  const directory = await realDirectory(context.options.in ?? ".");
  const threadId = await context.find(given);
  const found = await (await context.threads()).blame(threadId, pathIn(directory, file), directory);
  context.print({ threadId, ...found }, blameLines(found));
};
