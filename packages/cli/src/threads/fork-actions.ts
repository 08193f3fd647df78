/** `threads compare` and `threads adopt`. */

import { adopted } from "../forks/adoption.ts";
import { comparedLines, notAdoptedLines } from "../forks/compare-lines.ts";
import { realDirectory } from "../run/directory.ts";
import { type Action, free } from "./actions.ts";
import { patchLines, rewindLines, shortId } from "./lines.ts";
import { realFiles } from "./put-aside.ts";

export const compare: Action = async (context, given) => {
  const { options, console } = context;
  const root = await realDirectory(options.in ?? ".");
  const ids: string[] = [];
  for (const id of given) ids.push(await context.find(id));
  const { compareThreads } = await import("@deepwright/checkpoint");
  const compared = await compareThreads(await context.saver(), ids, { root });
  const patches = options.diff
    ? compared.flatMap(({ threadId, changes }) => [
        "",
        console.resultColours.bold(shortId(threadId)),
        ...patchLines(realFiles(changes), console.resultColours),
      ])
    : [];
  context.print({ threads: compared }, [
    ...comparedLines(compared),
    ...notAdoptedLines(compared),
    ...patches,
  ]);
};

export const adopt: Action = async (context, [given = ""]) => {
  const { options, console } = context;
  const root = await realDirectory(options.in ?? ".");
  const threadId = await context.find(given);
  const saver = await context.saver();
  const { adoptFork } = await import("@deepwright/checkpoint");
  const plan = await adoptFork(saver, threadId, { root, dryRun: true });
  const planLines = ["Files would change:", ...rewindLines(plan)];
  const patches = patchLines(realFiles(plan.restored), console.resultColours);
  if (options.dryRun) return context.print({ threadId, ...plan }, [...planLines, ...patches]);
  if (!options.yes) for (const line of planLines) console.line(line);
  if (!(await context.allowed(`Adopt the changes of ${shortId(threadId)}?`))) return;
  await free(context, threadId);
  const { result, lines } = await adopted(saver, threadId, root, options.in);
  context.print({ threadId, ...result }, lines);
};
