/** Commands that go back in a thread, or continue a copy of it from a moment. */
import { safeLine } from "../../terminal/safe-text.ts";
import { rewindLines, timeText } from "../../threads/lines.ts";
import { errorWords } from "../app-words.ts";
import { type PickedItem, Picker } from "../panels/picker.ts";
import type { PastStep, Rewound } from "../session/thread-past.ts";
import type { AppCommand, CommandHost } from "./command.ts";
import { previewLines } from "./preview-lines.ts";

/** Steps behind which a turn of a person begins: rewinding there takes the turn back. */
function turnsOf(
  steps: readonly PastStep[],
): readonly { readonly before: PastStep; readonly input: PastStep }[] {
  return steps.flatMap((input, i) => {
    const before = steps[i - 1];
    return input.source === "input" && before !== undefined ? [{ before, input }] : [];
  });
}

/** The step that an undo left, and the one it went to. */
interface Undone {
  readonly from: string;
  readonly to: string | undefined;
  readonly part: RewindPart;
}

/** Newest last, by thread. */
const undone = new Map<string, Undone[]>();

const undo: AppCommand = {
  name: "undo",
  description: "undo the last turn: messages and files",
  run: async (host) => {
    if (host.session.isEmpty) return host.say("There is nothing to undo.");
    const steps = await host.place.past.steps(host.session.threadId);
    const target = turnsOf(steps).at(-1)?.before ?? steps[0];
    if (!target) return host.say("There is nothing to undo.");
    await rewindTo(host, target.checkpointId, "both");
  },
};

const redo: AppCommand = {
  name: "redo",
  description: "restore what /undo or /rewind took away",
  run: async (host) => {
    const { threadId } = host.session;
    const last = undone.get(threadId)?.pop();
    if (last === undefined) return host.say("There is nothing to redo.");
    const steps = await host.place.past.steps(host.session.threadId);
    if (steps.at(-1)?.checkpointId !== last.to) {
      undone.delete(threadId);
      return host.say("There is nothing to redo: the thread went on after the undo.");
    }
    await redoTo(host, last);
  },
};

export type RewindPart = "both" | "messages" | "files";

const PARTS: readonly PickedItem<RewindPart>[] = [
  { value: "both", label: "messages and files", description: "the thread and the directory as they were" },
  { value: "messages", label: "messages only", description: "files stay as they are now" },
  { value: "files", label: "files only", description: "the conversation goes on from here" },
];

const rewind: AppCommand = {
  name: "rewind",
  description: "go back to an earlier moment: messages, files or both, after a preview",
  run: async (host) => {
    const items = rewindItems(await host.place.past.steps(host.session.threadId));
    if (items.length === 0) return host.say("There is nothing to go back to yet.");
    const { theme, closePanel: onClose } = host;
    const onPick = (checkpointId: string): void =>
      host.show(
        new Picker({
          title: "Go back with",
          items: PARTS,
          theme,
          onClose,
          onPick: (part) => {
            host.closePanel();
            void preview(host, checkpointId, part).catch(failed(host));
          },
        }),
      );
    host.show(new Picker({ title: "Go back to the moment", items, theme, onClose, onPick }));
  },
};

function failed(host: CommandHost): (error: Error) => void {
  return (error) => host.say(host.theme.bad(errorWords(error)));
}

/** Steps where something was said or changed, the newest first. The present one is no way back. */
export function rewindItems(steps: readonly PastStep[]): readonly PickedItem<string>[] {
  return steps
    .slice(0, -1)
    .filter(({ summary, changedFiles }) => summary !== "" || changedFiles.length > 0)
    .toReversed()
    .map(itemOf);
}

function itemOf({ checkpointId, summary, at, changedFiles }: PastStep): PickedItem<string> {
  return {
    value: checkpointId,
    label: `after: ${safeLine(summary || "a change of files", 50)}`,
    description: [timeText(at), safeLine(changedFiles.join(", "), 60)].filter(Boolean).join(" · "),
  };
}

const PREVIEWS: Readonly<Record<RewindPart, string>> = {
  both: "Later messages go. Files:",
  messages: "Later messages go. Files stay as they are.",
  files: "The conversation stays. Files:",
};

async function preview(host: CommandHost, checkpointId: string, part: RewindPart): Promise<void> {
  const { session, place } = host;
  const plan = await place.past.rewind(session.threadId, checkpointId, { dryRun: true });
  host.say(host.theme.bold(PREVIEWS[part]), ...(part === "messages" ? [] : await previewLines(host, plan)));
  if (await host.confirm("Go back?")) await rewindTo(host, checkpointId, part);
  else host.say("Nothing was changed.");
}

async function went(host: CommandHost, checkpointId: string, part: RewindPart): Promise<Rewound> {
  const { past } = host.place;
  const { threadId } = host.session;
  const done = await past.rewind(threadId, checkpointId, { files: part !== "messages" });
  if (part === "messages") return { ...done, notCovered: [] };
  if (part === "both") return done;
  // The messages of the moment before come back; the files stay where they are.
  const back = await past.rewind(threadId, done.previousId, { files: false });
  return { ...done, checkpointId: back.checkpointId };
}

async function rewindTo(host: CommandHost, checkpointId: string, part: RewindPart): Promise<void> {
  const { threadId } = host.session;
  const done = await went(host, checkpointId, part);
  const step = { from: done.previousId, to: done.checkpointId, part };
  if (part !== "files") undone.set(threadId, [...(undone.get(threadId) ?? []), step]);
  await host.session.open(threadId);
  host.say(host.theme.bold(DONE[part]), ...(part === "messages" ? [] : rewindLines(done)));
}

const DONE: Readonly<Record<RewindPart, string>> = {
  both: "Undone. /redo restores it.",
  messages: "Undone. Files are as before. /redo restores the messages.",
  files: "The files are back. The conversation goes on.",
};

async function redoTo(host: CommandHost, { from, part }: Undone): Promise<void> {
  const { threadId } = host.session;
  const done = await went(host, from, part);
  // A redo makes a new step, from which the undo before it is counted.
  const rest = undone.get(threadId) ?? [];
  const last = rest.pop();
  if (last) rest.push({ ...last, to: done.checkpointId });
  await host.session.open(threadId);
  host.say(
    host.theme.bold("Restored. /undo undoes it again."),
    ...(part === "messages" ? [] : rewindLines(done)),
  );
}

const NOW = "";

const fork: AppCommand = {
  name: "fork",
  description: "continue in a copy of this thread, from now or from an earlier moment",
  run: async (host) => {
    if (host.session.isEmpty) return host.say("There is nothing to copy yet.");
    const now = { value: NOW, label: "now", description: "the whole thread" };
    host.show(
      new Picker({
        title: "A copy of the thread as it was",
        items: [now, ...rewindItems(await host.place.past.steps(host.session.threadId))],
        theme: host.theme,
        onClose: host.closePanel,
        onPick: (checkpointId) => {
          host.closePanel();
          void forked(host, checkpointId).catch(failed(host));
        },
      }),
    );
  },
};

/** Files of the directory stay as they are: both threads work on them. */
async function forked(host: CommandHost, checkpointId: string): Promise<void> {
  const { threadId: from } = host.session;
  const to = await host.place.past.copy(from, checkpointId === NOW ? undefined : checkpointId);
  await host.session.open(to, { isShown: checkpointId === NOW });
  if (checkpointId !== NOW) host.replay();
  host.say(`You are in a copy now (${to.slice(0, 8)}). Back to the original (${from.slice(0, 8)}): /resume`);
}

export const REWIND_COMMANDS: readonly AppCommand[] = [undo, redo, rewind, fork];
