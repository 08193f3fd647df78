/** The author of each line of a file. A click leads to the step in the conversation. */
import { useEffect, useState } from "preact/hooks";
import { call, failureWords } from "../state/connection.ts";
import { shownAgent, snapshot } from "../state/current.ts";
import { attempt, notify } from "../state/notices.ts";
import { panelOpen } from "../state/preferences.ts";
import { go } from "../state/route.ts";
import { readSteps } from "../undo/undo-calls.ts";
import { words } from "../words.ts";
import { fileWords } from "./file-words.ts";
import { TextView } from "./text-view.tsx";

interface Author {
  readonly step?: number;
  /** The step began here. */
  readonly checkpoint_id: string;
  readonly at: string;
  readonly call?: string;
  readonly agent?: string;
  readonly command?: string;
  readonly prompt?: string;
  readonly is_restore?: boolean;
}

interface BlameLine {
  readonly text: string;
  /** Absent: the line is not of the thread. */
  readonly by?: Author;
}

interface BlameProps {
  readonly path: string;
  readonly threadId: string;
  readonly version: number;
}

export function BlameView({ path, threadId, version }: BlameProps) {
  const [lines, setLines] = useState<readonly BlameLine[]>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    const raw = { parameters: { thread_id: threadId }, query: { path } };
    call<{ readonly lines: readonly BlameLine[] }>("GET", "/threads/:thread_id/files/blame", raw).then(
      (blame) => setLines(blame.lines),
      (error: unknown) => setFailure(isUnknown(error) ? fileWords.notChanged : failureWords(error)),
    );
  }, [path, threadId, version]);
  if (failure !== undefined) return <p class="notice">{failure}</p>;
  if (!lines) return <p class="muted">{words.loading}</p>;
  return (
    <TextView
      path={path}
      text={lines.map(({ text }) => `${text}\n`).join("")}
      beside={(index) => {
        const by = lines[index]?.by;
        const isFirst = index === 0 || keyOf(by) !== keyOf(lines[index - 1]?.by);
        return <AuthorCell by={by} isFirst={isFirst} threadId={threadId} />;
      }}
    />
  );
}

const isUnknown = (error: unknown): boolean => (error as { readonly status?: number }).status === 404;

/** Lines of one change. */
const keyOf = (by: Author | undefined): string =>
  by === undefined ? "" : `${by.checkpoint_id}|${by.call ?? ""}`;

interface CellProps {
  readonly by: Author | undefined;
  readonly isFirst: boolean;
  readonly threadId: string;
}

function AuthorCell({ by, isFirst, threadId }: CellProps) {
  if (!by) return <td class="author">{isFirst && <span class="muted">{fileWords.notOfThread}</span>}</td>;
  if (!isFirst) return <td class="author written" />;
  const { step, agent, command, prompt, at, is_restore: isRestore } = by;
  const name = isRestore ? fileWords.restored : (agent ?? words.assistant);
  const facts = [
    fileWords.writtenBy(step, name),
    new Date(at).toLocaleString(),
    ...(prompt === undefined ? [] : [fileWords.askedFor(prompt)]),
    ...(command === undefined ? [] : [fileWords.byCommand(command)]),
  ];
  return (
    <td class="author written">
      <button
        type="button"
        class="quiet"
        title={facts.join("\n")}
        aria-label={facts.join(". ")}
        onClick={() => attempt(() => showStep(by, threadId))}
      >
        {step} <span class="author-name">{name}</span>
      </button>
    </td>
  );
}

/** Goes to the message with the call, or to the one that the step began with. */
async function showStep({ call: callId, checkpoint_id: begun }: Author, threadId: string): Promise<void> {
  const found = placeOfCall(callId);
  const messageId = found
    ? found.messageId
    : (await readSteps(threadId)).find(({ checkpoint_id: id }) => id === begun)?.message_id;
  if (messageId === undefined) return notify(fileWords.noMessage);
  shownAgent.value = found?.place ?? "";
  if (matchMedia("(max-width: 1100px)").matches) panelOpen.value = false;
  go({ view: "thread", threadId, messageId });
}

function placeOfCall(callId: string | undefined) {
  const { main, subagents } = snapshot.peek().screen;
  for (const [place, { messages }] of [["", main] as const, ...Object.entries(subagents)]) {
    const message = messages.find(({ calls }) => calls.some(({ id }) => id === callId));
    if (message) return { place, messageId: message.id };
  }
  return undefined;
}
