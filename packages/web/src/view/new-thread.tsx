/** The start of a thread: what to do, and by whom. */

import type { SentContent } from "@deepwright/protocol/live";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { current, showThread } from "../state/current.ts";
import { directoryOf, hasDirectories, shortName } from "../state/directories.ts";
import { go } from "../state/route.ts";
import { choicesOf, runSettings } from "../state/run-choices.ts";
import { type AssistantItem, assistants, createThread, readThreads } from "../state/threads.ts";
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
        <WorksIn assistantId={assistant} />
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
        {assistants.value.length > 1 && <Agents />}
        <RunChoices assistantId={assistant} threadId={undefined} />
      </Composer>
    </div>
  );
}

/** Agents by name, or by the directory they work in. */
function Agents() {
  const name = hasDirectories() ? words.directory : words.agent;
  return (
    <label class="choice">
      <span>{name}</span>
      <select
        aria-label={name}
        value={chosenAssistant.value || assistants.value[0]?.assistant_id}
        onChange={({ currentTarget }) => (chosenAssistant.value = currentTarget.value)}
      >
        {assistants.value.map((assistant) => (
          <option key={assistant.assistant_id} value={assistant.assistant_id}>
            {choiceName(assistant)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function choiceName({ assistant_id: id, name, metadata }: AssistantItem): string {
  const directory = directoryOf(id);
  if (directory === undefined) return name;
  return metadata?.created_by === "system" ? shortName(directory) : `${shortName(directory)} · ${name}`;
}
