/** The start of a thread: what to do, and by whom. */

import type { SentContent } from "@deepwright/protocol/live";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { current, showThread } from "../state/current.ts";
import { go } from "../state/route.ts";
import { choicesOf, runSettings } from "../state/run-choices.ts";
import { assistants, createThread, readThreads } from "../state/threads.ts";
import { words } from "../words.ts";
import { Composer } from "./composer.tsx";
import { lazy } from "./lazy.tsx";
import { RunChoices } from "./run-choices.tsx";

const WorksIn = lazy(async () => (await import("../settings/works-in.tsx")).WorksIn);

/** The agent of the next thread; empty: the first of the server. */
export const chosenAssistant = signal("");

async function begin(content: SentContent): Promise<void> {
  const assistant = chosenAssistant.peek() || assistants.peek()[0]?.assistant_id || "";
  const settings = runSettings(undefined);
  const threadId = await createThread(assistant, choicesOf(undefined));
  showThread(threadId);
  go({ view: "thread", threadId });
  await current.peek()?.send(assistant, content, settings);
  await readThreads().catch(() => undefined);
}

export function NewThread() {
  const [draft, setDraft] = useState("");
  const assistant = chosenAssistant.value || assistants.value[0]?.assistant_id || "";
  return (
    <div class="new-thread">
      <div class="welcome">
        <h1>{words.emptyTitle}</h1>
        <p class="muted">{words.emptyHint}</p>
        <WorksIn />
        <ul class="examples">
          {words.examples.map((example) => (
            <li key={example}>
              <button type="button" onClick={() => setDraft(example)}>
                {example}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <Composer
        isRunning={false}
        disabled={assistants.value.length === 0}
        draft={draft}
        onSend={begin}
        onStop={() => {}}
      >
        {assistants.value.length > 1 && (
          <label class="choice">
            <span>{words.agent}</span>
            <select
              aria-label={words.agent}
              value={chosenAssistant.value}
              onChange={({ currentTarget }) => (chosenAssistant.value = currentTarget.value)}
            >
              {assistants.value.map(({ assistant_id: id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <RunChoices assistantId={assistant} threadId={undefined} />
      </Composer>
    </div>
  );
}
