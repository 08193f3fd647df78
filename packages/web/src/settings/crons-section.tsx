/** Schedules: runs that begin by the clock. They are paused and deleted here. */
import { useEffect, useState } from "preact/hooks";
import { attempt, notify } from "../state/notices.ts";
import { assistants } from "../state/threads.ts";
import { words as shared } from "../words.ts";
import { type Cron, readCrons, removeCron, setEnabled } from "./settings-calls.ts";
import { words } from "./words.ts";

export function CronsSection() {
  const [crons, setCrons] = useState<readonly Cron[]>();
  const read = async (): Promise<void> => setCrons(await readCrons());
  useEffect(() => attempt(read), []);
  if (crons === undefined) return <p class="muted">{shared.loading}</p>;
  if (crons.length === 0) return <p class="muted">{words.noCrons}</p>;
  const act = (action: () => Promise<void>) => () => attempt(async () => action().then(read));
  return (
    <section>
      <h2>{words.crons}</h2>
      <ul class="settings-list">
        {crons.map((cron) => (
          <li key={cron.cron_id} class="settings-row">
            <CronFacts cron={cron} />
            <span class="buttons">
              <button
                type="button"
                aria-label={words.cronOf(cron.enabled ? words.pause : words.resume, cron.schedule)}
                onClick={act(() => setEnabled(cron, !cron.enabled))}
              >
                {cron.enabled ? words.pause : words.resume}
              </button>
              <button
                type="button"
                class="danger"
                aria-label={words.cronOf(words.remove, cron.schedule)}
                onClick={act(async () => {
                  await removeCron(cron);
                  notify(words.removed);
                })}
              >
                {words.remove}
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function CronFacts({ cron }: { readonly cron: Cron }) {
  const { schedule, timezone, enabled, next_run_date: next, assistant_id: id, thread_id: threadId } = cron;
  const agent = assistants.value.find((one) => one.assistant_id === id)?.name ?? id;
  const when = !enabled
    ? words.paused
    : next === null
      ? words.over
      : words.next(new Date(next).toLocaleString("en-GB"));
  return (
    <span>
      <code>{schedule}</code> <span class="muted">{timezone ?? "UTC"}</span> <strong>{agent}</strong>{" "}
      {threadId !== null && <span class="muted">{words.onThread}</span>} <span class="badge">{when}</span>
      <p class="muted">{taskOf(cron)}</p>
    </span>
  );
}

const MOST_WORDS = 200;

/** The first words that each run is told. */
function taskOf({ payload: { input } }: Cron): string {
  const messages: unknown = (input as { messages?: unknown } | null | undefined)?.messages;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : messages;
  const content: unknown = (last as { content?: unknown } | null | undefined)?.content ?? last;
  return typeof content === "string" ? content.slice(0, MOST_WORDS) : "";
}
