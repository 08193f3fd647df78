/** Tasks that agents of the thread began in the background. Each is a thread of its own. */
import { addressOf } from "../state/route.ts";
import { threads } from "../state/threads.ts";
import { age, words } from "../words.ts";
import { timelineWords } from "./words.ts";

export function BackgroundTasks({ threadId }: { readonly threadId: string }) {
  const tasks = threads.value.filter(({ metadata }) => metadata.parent_thread_id === threadId);
  if (tasks.length === 0) return null;
  return (
    <section class="timeline">
      <h3>{timelineWords.background}</h3>
      <ul class="agents" aria-label={timelineWords.background}>
        {tasks.map(({ thread_id: id, metadata, status, updated_at: moment }) => (
          <li key={id}>
            <span class={`dot ${status}`} />{" "}
            <a href={addressOf({ view: "thread", threadId: id })}>
              {typeof metadata.agent_name === "string" ? metadata.agent_name : words.subagent}
            </a>{" "}
            <span class="muted">
              {words.status[status] ?? status} · {age(moment)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
