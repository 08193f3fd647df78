/** Every command and every thread, by keyboard. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { factsOf } from "../choices/facts.ts";
import { words as choiceWords } from "../choices/words.ts";
import { signOut } from "../state/connection.ts";
import { current } from "../state/current.ts";
import { hasDirectories } from "../state/directories.ts";
import { attempt } from "../state/notices.ts";
import { paletteOpen, panelOpen, sidebarOpen, theme } from "../state/preferences.ts";
import { go, route } from "../state/route.ts";
import { type Choices, choicesOf, choose } from "../state/run-choices.ts";
import {
  assistantOf,
  assistants,
  changeThread,
  type ThreadItem,
  threads,
  titleOf,
} from "../state/threads.ts";
import { timeWords } from "../time/words.ts";
import { askUndo } from "../undo/undo-request.ts";
import { undoWords } from "../undo/undo-words.ts";
import { words } from "../words.ts";
import { showWork, WORK_TABS } from "../work/work-tab.ts";
import { choiceName, chosenAssistant } from "./new-thread.tsx";
import { removeThread } from "./thread-list.tsx";

interface Entry {
  readonly name: string;
  readonly note?: string;
  readonly run: () => void;
}

const MOST = 60;

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const entries = useMemo(allEntries, []);
  const found = entries.filter(({ name, note }) => fits(`${name} ${note ?? ""}`, text)).slice(0, MOST);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const close = (): void => {
    paletteOpen.value = false;
  };
  const run = (entry: Entry | undefined): void => {
    close();
    entry?.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = (at + step + found.length) % Math.max(1, found.length);
      setAt(next);
      document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      class="palette"
      aria-label={words.commands}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        value={text}
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${at}`}
        aria-label={words.commands}
        placeholder={words.commandHint}
        ref={(field) => field?.focus()}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id="commands" role="listbox" aria-label={words.commands}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
          <div
            key={`${entry.name}|${index}`}
            id={`command-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => run(entry)}
          >
            {entry.name}
            {entry.note && <span class="muted"> {entry.note}</span>}
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** Every word that was typed is somewhere in the name. */
function fits(name: string, text: string): boolean {
  const lower = name.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

function allEntries(): readonly Entry[] {
  return [
    { name: words.newThread, run: () => go({ view: "new" }) },
    ...newThreads(),
    { name: words.inbox, run: () => go({ view: "inbox" }) },
    { name: words.settings, run: () => go({ view: "settings" }) },
    { name: words.allCosts, run: () => go({ view: "usage" }) },
    ...ofThread(),
    { name: words.toggleThreads, run: () => (sidebarOpen.value = !sidebarOpen.peek()) },
    ...WORK_TABS.map((tab) => ({ name: `${words.work}: ${words[tab]}`, run: () => showWork(tab) })),
    { name: words.toggleWork, run: () => (panelOpen.value = !panelOpen.peek()) },
    ...choiceEntries(),
    ...(["system", "light", "dark"] as const).map((one) => ({
      name: `${words.theme}: ${words.themes[one]}`,
      run: () => (theme.value = one),
    })),
    { name: words.signOut, run: () => attempt(signOut) },
    ...threads.value.map(entryOfThread),
    ...comparisons(),
  ];
}

/** One for each directory, where there are several. */
function newThreads(): readonly Entry[] {
  if (!hasDirectories()) return [];
  return assistants.value.map((assistant) => ({
    name: words.newThreadIn(choiceName(assistant)),
    run: () => {
      chosenAssistant.value = assistant.assistant_id;
      go({ view: "new" });
    },
  }));
}

/** Modes and kinds that the agent of the shown thread, or of the next new one, keeps to. */
function choiceEntries(): readonly Entry[] {
  const at = route.peek();
  const threadId = at.view === "thread" ? at.threadId : undefined;
  const agent = threadId === undefined ? chosenAssistant.peek() || assistantOf("") : assistantOf(threadId);
  const { approval_modes: modes = [], agent_kinds: kinds = [] } = factsOf(agent)?.choices ?? {};
  const entry = (name: string, part: Choices): Entry => ({
    name,
    run: () => choose(threadId, { ...choicesOf(threadId), ...part }),
  });
  return [
    ...modes.map((mode) => entry(`${words.mode}: ${words.modes[mode] ?? mode}`, { mode })),
    ...kinds.map((kind) => entry(`${choiceWords.kind}: ${choiceWords.kinds[kind] ?? kind}`, { kind })),
  ];
}

function ofThread(): readonly Entry[] {
  const at = route.peek();
  if (at.view !== "thread") return [];
  const { threadId } = at;
  const thread = threads.peek().find(({ thread_id: id }) => id === threadId);
  return [
    { name: words.history, run: () => go({ view: "steps", threadId }) },
    { name: words.stop, run: () => attempt(async () => current.peek()?.stop()) },
    { name: undoWords.titles.last, run: () => askUndo({ kind: "last" }) },
    { name: undoWords.titles.all, run: () => askUndo({ kind: "all" }) },
    { name: words.archive, run: () => attempt(() => changeThread(threadId, { archived: true })) },
    { name: words.delete, run: () => removeThread(thread ?? { thread_id: threadId }) },
  ];
}

/** Every other thread beside the one that is shown. */
function comparisons(): readonly Entry[] {
  const at = route.peek();
  if (at.view !== "thread") return [];
  return threads.value
    .filter(({ thread_id: id }) => id !== at.threadId)
    .map((thread) => ({
      name: timeWords.compareWith(titleOf(thread) ?? words.untitled),
      run: () => go({ view: "compare", threads: [at.threadId, thread.thread_id] }),
    }));
}

function entryOfThread(thread: ThreadItem): Entry {
  const note = words.status[thread.status];
  return {
    name: titleOf(thread) ?? words.untitled,
    ...(note && { note }),
    run: () => go({ view: "thread", threadId: thread.thread_id }),
  };
}
