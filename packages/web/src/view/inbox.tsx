/** Everything that waits for the person, over all threads. */
import { useEffect } from "preact/hooks";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { type Approval, answerApproval, approvals, interruptOf } from "../state/approvals.ts";
import { directoryOf, shortName } from "../state/directories.ts";
import { addressOf } from "../state/route.ts";
import { assistantOf, isServed, readThread, threadItem, titleOf } from "../state/threads.ts";
import { age, words } from "../words.ts";

export function Inbox() {
  const waiting = approvals.value;
  return (
    <div class="inbox">
      <h1>{words.inbox}</h1>
      {waiting.length === 0 && <p class="muted">{words.nothingWaits}</p>}
      {waiting.map((approval) => (
        <Waiting key={`${approval.thread_id}|${approval.interrupt_id}`} approval={approval} />
      ))}
    </div>
  );
}

function Waiting({ approval }: { readonly approval: Approval }) {
  const { thread_id: threadId, waiting_since: since } = approval;
  const thread = threadItem(threadId);
  const directory = directoryOf(assistantOf(threadId));
  useEffect(() => {
    readThread(threadId).catch(() => undefined);
  }, [threadId]);
  return (
    <article class="inbox-item">
      <header>
        <h2>{(thread && titleOf(thread)) ?? words.untitled}</h2>
        {directory !== undefined && <code title={directory}>{shortName(directory)}</code>}
        <span class="muted">{age(since)}</span>
        <a href={addressOf({ view: "thread", threadId })}>{words.openThread}</a>
      </header>
      {thread && !isServed(assistantOf(threadId)) && <p class="notice">{words.agentGone}</p>}
      <ApprovalCard
        interrupt={interruptOf(approval)}
        threadId={threadId}
        onAnswer={async (id, value, more) => {
          await answerApproval(threadId, id, { value, ...more });
          approvals.value = approvals.peek().filter((one) => one !== approval);
        }}
      />
    </article>
  );
}
