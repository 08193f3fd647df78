/** Commands about threads: other ones, earlier steps of this one, and files to take along. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { RewindResult, ThreadStep } from "@deepwright/checkpoint";
import { safeLine } from "../../terminal/safe-text.ts";
import { patchLines, rewindLines, timeText } from "../../threads/lines.ts";
import { realFiles } from "../../threads/put-aside.ts";
import { type PickedItem, Picker } from "../panels/picker.ts";
import type { LocalPlace } from "../session/place.ts";
import type { AppCommand, CommandHost } from "./command.ts";
import { exportHtml, exportMarkdown } from "./export-thread.ts";
import { threadItems } from "./thread-items.ts";

function localOf({ place }: CommandHost): LocalPlace {
  if (place.local) return place.local;
  throw new Error("This works on threads of this machine; the app is connected to a server.");
}

/** None in a thread that was never used. */
async function stepsOf(host: CommandHost): Promise<readonly ThreadStep[]> {
  try {
    return (await localOf(host).threads.show(host.session.threadId)).steps;
  } catch (error) {
    if ((error as { code?: unknown }).code === "THREAD_NOT_FOUND") return [];
    throw error;
  }
}

const resume: AppCommand = {
  name: "resume",
  description: "switch to another thread",
  run: async (host) => {
    const items = await threadItems(host.place, host.directory);
    if (items.length === 0) return host.say("There are no threads yet.");
    host.show(
      new Picker({
        title: "Threads",
        items,
        theme: host.theme,
        onClose: host.closePanel,
        onPick: (threadId) => {
          host.closePanel();
          void opened(host, threadId);
        },
      }),
    );
  },
};

async function opened(host: CommandHost, threadId: string): Promise<void> {
  try {
    host.say(host.theme.dim(`Thread ${threadId.slice(0, 8)}:`), "");
    await host.session.open(threadId, { isShown: false });
    host.replay();
  } catch (error) {
    host.say(host.theme.bad(safeLine((error as Error).message, 300)));
  }
}

const clear: AppCommand = {
  name: "clear",
  description: "begin a new thread; this one is kept",
  run: (host) => {
    const { threadId, isEmpty } = host.session;
    host.session.clear();
    host.replay();
    host.say(isEmpty ? "New thread." : `New thread. The old one: deepwright -r ${threadId.slice(0, 8)}`);
  },
};

/** Steps behind which a turn of a person begins: rewinding there takes the turn back. */
function turnsOf(
  steps: readonly ThreadStep[],
): readonly { readonly before: ThreadStep; readonly input: ThreadStep }[] {
  return steps.flatMap((input, i) => {
    const before = steps[i - 1];
    return input.source === "input" && before !== undefined ? [{ before, input }] : [];
  });
}

/** The step that an undo left, and the one it went to. */
interface Undone {
  readonly from: string;
  readonly to: string | undefined;
}

/** Newest last, by thread. */
const undone = new Map<string, Undone[]>();

const undo: AppCommand = {
  name: "undo",
  description: "undo the last turn: messages and files",
  run: async (host) => {
    if (host.place.local && host.session.isEmpty) return host.say("There is nothing to undo.");
    const steps = await stepsOf(host);
    const last = turnsOf(steps).at(-1);
    const target = last?.before ?? undefined;
    if (!target) return undoFirst(host, steps);
    await rewindTo(host, target.checkpointId, true);
  },
};

/** The first turn has nothing before it but its own input. */
async function undoFirst(host: CommandHost, steps: readonly ThreadStep[]): Promise<void> {
  const [first] = steps;
  if (!first) return host.say("There is nothing to undo.");
  await rewindTo(host, first.checkpointId, true);
}

const redo: AppCommand = {
  name: "redo",
  description: "restore what /undo or /rewind took away",
  run: async (host) => {
    const { threadId } = host.session;
    const last = undone.get(threadId)?.pop();
    if (last === undefined) return host.say("There is nothing to redo.");
    const steps = await stepsOf(host);
    if (steps.at(-1)?.checkpointId !== last.to) {
      undone.delete(threadId);
      return host.say("There is nothing to redo: the thread went on after the undo.");
    }
    await rewindTo(host, last.from, false);
  },
};

const rewind: AppCommand = {
  name: "rewind",
  description: "go back to an earlier moment, after a preview",
  run: async (host) => {
    const steps = await stepsOf(host);
    const items = rewindItems(steps);
    if (items.length === 0) return host.say("There is nothing to go back to yet.");
    const onPick = (checkpointId: string): void => {
      host.closePanel();
      void preview(host, checkpointId).catch((error: Error) =>
        host.say(host.theme.bad(safeLine(error.message, 300))),
      );
    };
    host.show(
      new Picker({
        title: "Go back to the moment",
        items,
        theme: host.theme,
        onPick,
        onClose: host.closePanel,
      }),
    );
  },
};

/** Steps where something was said or changed, the newest first. The present one is no way back. */
export function rewindItems(steps: readonly ThreadStep[]): readonly PickedItem<string>[] {
  return steps
    .slice(0, -1)
    .filter(({ summary, changedFiles }) => summary !== "" || changedFiles.length > 0)
    .toReversed()
    .map(({ checkpointId, summary, at, changedFiles }) => ({
      value: checkpointId,
      label: `after: ${safeLine(summary || "a change of files", 50)}`,
      description: [timeText(at), safeLine(changedFiles.join(", "), 60)].filter(Boolean).join(" · "),
    }));
}

async function preview(host: CommandHost, checkpointId: string): Promise<void> {
  const { threads, directory } = localOf(host);
  const plan = await threads.rewind(host.session.threadId, checkpointId, {
    dryRun: true,
    roots: [directory],
  });
  host.say(host.theme.bold("Later messages go. Files:"), ...rewindLines(plan));
  if (await host.confirm("Go back?")) await rewindTo(host, checkpointId, true);
  else host.say("Nothing was changed.");
}

async function rewindTo(host: CommandHost, checkpointId: string, isUndo: boolean): Promise<void> {
  const { threads, directory } = localOf(host);
  const { threadId } = host.session;
  const done: RewindResult = await threads.rewind(threadId, checkpointId, { roots: [directory] });
  const step = { from: done.previousId, to: done.checkpointId };
  if (isUndo) undone.set(threadId, [...(undone.get(threadId) ?? []), step]);
  else followUndone(threadId, done);
  await host.session.open(threadId);
  host.say(
    host.theme.bold(isUndo ? "Undone. /redo restores it." : "Restored. /undo undoes it again."),
    ...rewindLines(done),
  );
}

/** A redo makes a new step, from which the undo before it is counted. */
function followUndone(threadId: string, { checkpointId }: RewindResult): void {
  const rest = undone.get(threadId) ?? [];
  const last = rest.pop();
  if (last) rest.push({ ...last, to: checkpointId });
}

const fork: AppCommand = {
  name: "fork",
  description: "go on in a copy of this thread",
  run: async (host) => {
    const { threadId: from, isEmpty } = host.session;
    if (isEmpty) return host.say("There is nothing to copy yet.");
    const to = randomUUID();
    await localOf(host).threads.copy(from, to);
    await host.session.open(to);
    host.say(
      `You are in a copy now (${to.slice(0, 8)}). Back to the original: deepwright -r ${from.slice(0, 8)}`,
    );
  },
};

const diff: AppCommand = {
  name: "diff",
  description: "files that the agent changed in this thread",
  run: async (host) => {
    const { threads } = localOf(host);
    const steps = await stepsOf(host);
    const [first] = steps;
    const changes = first
      ? realFiles(
          await threads.diff(host.session.threadId, first.checkpointId, {
            to: steps.at(-1)?.checkpointId ?? "",
          }),
        )
      : [];
    if (changes.length === 0) return host.say("No files changed.");
    const { default: pc } = await import("picocolors");
    host.say(...patchLines(changes, pc.createColors(host.theme.hasColour)));
  },
};

const save: AppCommand = {
  name: "export",
  usage: "[file.md|file.html|file.json]",
  description: "write the conversation to a file",
  isQuick: true,
  run: async (host, words) => {
    const name = words || `deepwright-${host.session.threadId.slice(0, 8)}.md`;
    const { screen } = host.session;
    const text = name.endsWith(".json")
      ? `${JSON.stringify(screen.main.messages, undefined, 2)}\n`
      : name.endsWith(".html")
        ? exportHtml(screen)
        : exportMarkdown(screen);
    const path = resolve(host.directory, name);
    await writeFile(path, text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw new Error(`${name} is there already: /export other-name.md`);
      if (error.code === "ENOENT") throw new Error(`There is no directory ${dirname(path)}.`);
      throw error;
    });
    host.say(`Wrote ${safeLine(name)}`);
  },
};

export const THREAD_COMMANDS: readonly AppCommand[] = [resume, clear, undo, redo, rewind, fork, diff, save];
