/** A thread: its conversation, the field below it, and how the connection is. */
import type { SentContent, ShownMessage, ThreadSnapshot } from "@deepwright/protocol/live";
import { useEffect, useRef, useState } from "preact/hooks";
import { branchAt } from "../state/branch.ts";
import { current, isRunning, shownAgent, snapshot } from "../state/current.ts";
import { attempt } from "../state/notices.ts";
import { isNarrow, panelOpen } from "../state/preferences.ts";
import { choicesOf, runSettings, TEAM } from "../state/run-choices.ts";
import { assistantOf, isServed, readThread, threadItem, threadsRead } from "../state/threads.ts";
import { words } from "../words.ts";
import { workTab } from "../work/work-tab.ts";
import { Composer, type How } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { lazy } from "./lazy.tsx";
import { RunChoices } from "./run-choices.tsx";

const BranchNote = lazy(async () => (await import("../time/branch-note.tsx")).BranchNote);

interface ThreadProps {
  readonly threadId: string;
  readonly messageId: string | undefined;
}

export function ThreadView({ threadId, messageId }: ThreadProps) {
  const [edited, setEdited] = useState<ShownMessage>();
  useEffect(() => setEdited(undefined), []);
  const now = snapshot.value;
  const isCopy = threadItem(threadId)?.metadata.branched_from !== undefined;
  const assistant = assistantOf(threadId);
  const hasAgent = isServed(assistant);
  useEffect(() => {
    if (threadsRead.value) readThread(threadId).catch(() => undefined);
  }, [threadId, threadsRead.value]);
  const running = isRunning(now);
  useTeam(threadId, running && Object.keys(now.screen.subagents).length > 0);
  const send = async (content: SentContent, how: How): Promise<void> => {
    const store = current.peek();
    if (!store) return;
    if (edited) {
      const branch = edited;
      setEdited(undefined);
      return branchAt(threadId, branch.id, assistantOf(threadId), content);
    }
    if (how === "send") return store.send(assistantOf(threadId), content, runSettings(threadId));
    return store.post(how, content);
  };
  if (now.connection === "gone")
    return (
      <p class="center muted">
        {now.failure?.status === 404 ? words.gone : (now.failure?.message ?? words.gone)}
      </p>
    );
  return (
    <div class="thread-view">
      {now.connection === "offline" && (
        <p class="offline" role="status">
          {words.offline}
        </p>
      )}
      {isCopy && <BranchNote threadId={threadId} />}
      {now.connection === "loading" ? (
        <p class="center muted">{words.loading}</p>
      ) : (
        <Conversation snapshot={now} threadId={threadId} messageId={messageId} onEdit={setEdited} />
      )}
      {edited && (
        <p class="editing">
          {words.editingBranch}
          <button type="button" class="quiet" onClick={() => setEdited(undefined)}>
            {words.cancel}
          </button>
        </p>
      )}
      {assistant !== "" && !hasAgent && (
        <p class="editing" role="status">
          {words.agentGone}
        </p>
      )}
      <Composer
        isRunning={running && !edited}
        disabled={now.connection === "loading" || assistant === "" || !hasAgent}
        draft={edited?.text ?? ""}
        hint={hintFor(now)}
        {...(edited && { sendLabel: words.branch })}
        onSend={send}
        onStop={() => attempt(async () => current.peek()?.stop())}
      >
        {hasAgent && <RunChoices assistantId={assistant} threadId={threadId} />}
      </Composer>
    </div>
  );
}

/** The subagents of a team are shown beside the conversation as soon as one works; after that the person chooses the tab. */
function useTeam(threadId: string, isAtWork: boolean): void {
  const isShown = useRef(false);
  const isNow = isAtWork && choicesOf(threadId).kind === TEAM;
  useEffect(() => {
    if (!isNow || isShown.current) return;
    isShown.current = true;
    workTab.value = "subagents";
    if (!isNarrow()) panelOpen.value = true;
  }, [isNow]);
}

/** A message goes to the main agent, also while the conversation of a subagent is shown. */
function hintFor({ screen }: ThreadSnapshot): string | undefined {
  if (shownAgent.value !== "") return words.mainAgentHint;
  return screen.run.status !== "running" && screen.interrupts.length > 0 ? words.waitingHint : undefined;
}
