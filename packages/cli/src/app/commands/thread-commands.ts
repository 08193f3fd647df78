/** Commands about threads: other ones, earlier steps of this one, and files to take along. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { RewindResult, ThreadStep } from "@deepwright/checkpoint";
import { safeLine } from "../../terminal/safe-text.ts";
import { patchLines, rewindLines, timeText } from "../../threads/lines.ts";
import { realFiles } from "../../threads/put-aside.ts";
import { Picker } from "../panels/picker.ts";
import type { LocalPlace } from "../session/place.ts";
import type { AppCommand, CommandHost } from "./command.ts";
import { exportHtml, exportMarkdown } from "./export-thread.ts";
import { threadItems } from "./thread-items.ts";

function localOf({ place }: CommandHost): LocalPlace {
  if (place.local) return place.local;
  throw new Error("This works on threads of this machine; the app is connected to a server.");
}

const resume: AppCommand = {
  name: "resume",
  description: "go on with another thread",
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
    await host.session.open(threadId);
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

/** Heads before an undo, newest last, by thread: where redo goes. */
const undone = new Map<string, string[]>();

const undo: AppCommand = {
  name: "undo",
  description: "take the last turn back: messages and files",
  run: async (host) => {
    const { threads } = localOf(host);
    const { threadId } = host.session;
    const { steps } = await threads.show(threadId);
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
  description: "take the last undo back",
  run: async (host) => {
    const target = undone.get(host.session.threadId)?.pop();
    if (target === undefined) return host.say("There is nothing to redo.");
    await rewindTo(host, target, false);
  },
};

const rewind: AppCommand = {
  name: "rewind",
  description: "go back to a step, with a preview of the files",
  run: async (host) => {
    const { threads } = localOf(host);
    const { steps } = await threads.show(host.session.threadId);
    if (steps.length === 0) return host.say("There are no steps yet.");
    const items = steps.toReversed().map((step) => ({
      value: step.checkpointId,
      label: `${step.step} ${safeLine(step.summary || step.source, 50)}`,
      description: `${timeText(step.at)}${step.changedFiles.length > 0 ? ` · ${safeLine(step.changedFiles.join(", "), 60)}` : ""}`,
    }));
    const onPick = (checkpointId: string): void => {
      host.closePanel();
      void preview(host, checkpointId).catch((error: Error) =>
        host.say(host.theme.bad(safeLine(error.message, 300))),
      );
    };
    host.show(new Picker({ title: "Rewind to", items, theme: host.theme, onPick, onClose: host.closePanel }));
  },
};

async function preview(host: CommandHost, checkpointId: string): Promise<void> {
  const { threads, directory } = localOf(host);
  const plan = await threads.rewind(host.session.threadId, checkpointId, {
    dryRun: true,
    roots: [directory],
  });
  host.say(host.theme.bold("Messages and files would be as they were then:"), ...rewindLines(plan));
  if (await host.confirm("Rewind?")) await rewindTo(host, checkpointId, true);
  else host.say("Nothing was changed.");
}

async function rewindTo(host: CommandHost, checkpointId: string, isUndo: boolean): Promise<void> {
  const { threads, directory } = localOf(host);
  const { threadId } = host.session;
  const done: RewindResult = await threads.rewind(threadId, checkpointId, { roots: [directory] });
  if (isUndo) undone.set(threadId, [...(undone.get(threadId) ?? []), done.previousId]);
  await host.session.open(threadId);
  host.say(
    host.theme.bold(isUndo ? "Taken back; /redo brings it again." : "Done again."),
    ...rewindLines(done),
  );
}

const fork: AppCommand = {
  name: "fork",
  description: "go on in a copy of this thread",
  run: async (host) => {
    const to = randomUUID();
    await localOf(host).threads.copy(host.session.threadId, to);
    await host.session.open(to);
    host.say(`This is a copy now: ${to.slice(0, 8)}. The other thread stays as it is.`);
  },
};

const diff: AppCommand = {
  name: "diff",
  description: "what the files tools of this thread changed",
  run: async (host) => {
    const { threads } = localOf(host);
    const { steps } = await threads.show(host.session.threadId);
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
    await writeFile(resolve(host.directory, name), text, { flag: "wx" });
    host.say(`Wrote ${safeLine(name)}`);
  },
};

export const THREAD_COMMANDS: readonly AppCommand[] = [resume, clear, undo, redo, rewind, fork, diff, save];
