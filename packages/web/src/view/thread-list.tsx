/** The threads of the caller, by age, with a search over their titles and messages. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { waitingCount } from "../state/approvals.ts";
import { directoryOf, hasDirectories, placeOfThread, shortName } from "../state/directories.ts";
import { attempt, notify } from "../state/notices.ts";
import { paletteOpen, sidebarOpen } from "../state/preferences.ts";
import { addressOf, go, route } from "../state/route.ts";
import { searched, searchFor, searchText } from "../state/search.ts";
import {
  assistantOf,
  assistants,
  changeThread,
  type ThreadItem,
  threads,
  threadsRead,
  titleOf,
  trashThread,
} from "../state/threads.ts";
import { money, threadCosts } from "../state/usage.ts";
import { age, words } from "../words.ts";

const showsArchive = signal(false);
/** Whether threads stand below their agents or directories instead of their age. */
const byAgent = signal(false);

export function ThreadList() {
  const { value: at } = route;
  return (
    <nav class="sidebar" aria-label={words.threads}>
      <div class="sidebar-top">
        <a class="button primary" href={addressOf({ view: "new" })} onClick={closeIfNarrow}>
          {words.newThread}
        </a>
        <a
          class={`button ${at.view === "inbox" ? "on" : ""}`}
          href={addressOf({ view: "inbox" })}
          onClick={closeIfNarrow}
        >
          {words.inbox}
          {waitingCount.value > 0 && <span class="count">{waitingCount.value}</span>}
        </a>
        <input
          type="search"
          value={searchText.value}
          placeholder={words.search}
          aria-label={words.search}
          onInput={({ currentTarget }) => searchFor(currentTarget.value)}
        />
      </div>
      <div class="thread-groups">{searchText.value.trim() === "" ? <Groups /> : <Found />}</div>
      <div class="sidebar-end">
        <button
          type="button"
          class="quiet"
          aria-pressed={showsArchive.value}
          onClick={() => (showsArchive.value = !showsArchive.peek())}
        >
          {words.showArchived}
        </button>
        {assistants.value.length > 1 && (
          <button
            type="button"
            class="quiet"
            aria-pressed={byAgent.value}
            onClick={() => (byAgent.value = !byAgent.peek())}
          >
            {hasDirectories() ? words.byDirectory : words.byAgent}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => (paletteOpen.value = true)}>
          {words.commands} <kbd>Ctrl K</kbd>
        </button>
        <a class="button quiet" href={addressOf({ view: "settings" })} onClick={closeIfNarrow}>
          {words.settings}
        </a>
      </div>
    </nav>
  );
}

export const isArchived = ({ archived }: Pick<ThreadItem, "archived">): boolean => archived === true;

function Groups() {
  const listed = threads.value.filter((thread) => isArchived(thread) === showsArchive.value);
  if (listed.length === 0) return <p class="muted">{threadsRead.value ? words.noThreads : words.loading}</p>;
  return (
    <>
      {(byAgent.value ? agentsOf(listed) : groupsOf(listed)).map(([name, members]) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul>
            {members.map((thread) => (
              <ThreadRow key={thread.thread_id} thread={thread} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Found() {
  const found = searched.value;
  if (found === undefined) return <p class="muted">{words.loading}</p>;
  if (found.length === 0) return <p class="muted">{words.noThreadsFound}</p>;
  return (
    <ul>
      {found.map((thread) => (
        <ThreadRow key={thread.thread_id} thread={thread} />
      ))}
    </ul>
  );
}

function agentsOf(listed: readonly ThreadItem[]): readonly (readonly [string, readonly ThreadItem[]])[] {
  const groups = new Map<string, readonly ThreadItem[]>();
  for (const thread of listed) {
    const id = assistantOf(thread.thread_id);
    const agent = assistants.value.find((one) => one.assistant_id === id);
    const directory = directoryOf(id);
    const name = directory === undefined ? (agent?.name ?? words.otherAgents) : shortName(directory);
    groups.set(name, [...(groups.get(name) ?? []), thread]);
  }
  return [...groups];
}

const DAY = 86_400_000;

function groupsOf(listed: readonly ThreadItem[]): readonly (readonly [string, readonly ThreadItem[]])[] {
  const today = new Date().setHours(0, 0, 0, 0);
  const starts: readonly (readonly [string, number])[] = [
    [words.today, today],
    [words.yesterday, today - DAY],
    [words.week, today - 6 * DAY],
    [words.older, Number.NEGATIVE_INFINITY],
  ];
  const nameOf = ({ updated_at: moment }: ThreadItem): string =>
    starts.find(([, start]) => Date.parse(moment) >= start)?.[0] ?? words.older;
  return starts
    .map(([name]) => [name, listed.filter((thread) => nameOf(thread) === name)] as const)
    .filter(([, members]) => members.length > 0);
}

function ThreadRow({ thread }: { readonly thread: ThreadItem }) {
  const [isOpen, setOpen] = useState(false);
  const [isRenamed, setRenamed] = useState(false);
  const { thread_id: threadId, status } = thread;
  const at = route.value;
  const isShown = at.view === "thread" && at.threadId === threadId;
  const title = titleOf(thread) ?? words.untitled;
  const cost = threadCosts.value.get(threadId);
  const place = placeOfThread(threadId);
  if (isRenamed) return <RenameRow thread={thread} onDone={() => setRenamed(false)} />;
  return (
    <li class={`thread ${isShown ? "on" : ""}`}>
      <a
        href={addressOf({ view: "thread", threadId })}
        aria-current={isShown ? "page" : undefined}
        onClick={closeIfNarrow}
      >
        <span class={`dot ${status}`} title={words.status[status]} />
        <span class="thread-title">{title}</span>
        <span class="thread-facts">
          {status === "idle" ? "" : `${words.status[status]} · `}
          {place !== undefined && !byAgent.value && `${place} · `}
          {age(thread.updated_at)}
          {cost !== undefined && ` · ${money(cost)}`}
        </span>
      </a>
      <button
        type="button"
        class="quiet menu"
        aria-label={`${words.actions}: ${title}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        ⋯
      </button>
      {isOpen && (
        <ThreadMenu thread={thread} onRename={() => setRenamed(true)} onClose={() => setOpen(false)} />
      )}
    </li>
  );
}

interface MenuProps {
  readonly thread: ThreadItem;
  readonly onRename: () => void;
  readonly onClose: () => void;
}

function ThreadMenu({ thread, onRename, onClose }: MenuProps) {
  const { thread_id: threadId } = thread;
  const archived = isArchived(thread);
  const act = (action: () => void) => () => {
    onClose();
    action();
  };
  return (
    <div class="thread-menu">
      <button type="button" onClick={act(onRename)}>
        {words.rename}
      </button>
      <button
        type="button"
        onClick={act(() => attempt(() => changeThread(threadId, { archived: !archived })))}
      >
        {archived ? words.unarchive : words.archive}
      </button>
      <button type="button" class="danger" onClick={act(() => removeThread(thread))}>
        {words.delete}
      </button>
    </div>
  );
}

/** Deletes the thread, and offers to bring it back. */
export function removeThread(thread: Pick<ThreadItem, "thread_id" | "title">): void {
  const { thread_id: threadId } = thread;
  const bringBack = (): void => attempt(() => trashThread(threadId, false));
  attempt(async () => {
    await trashThread(threadId, true);
    const at = route.peek();
    if (at.view === "thread" && at.threadId === threadId) go({ view: "new" });
    notify(words.threadDeleted(titleOf(thread) ?? words.untitled), {
      action: { label: words.undo, run: bringBack },
    });
  });
}

function RenameRow({ thread, onDone }: { readonly thread: ThreadItem; readonly onDone: () => void }) {
  const [title, setTitle] = useState(titleOf(thread) ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    onDone();
    attempt(() => changeThread(thread.thread_id, { title: title.trim() || null }));
  };
  return (
    <li class="thread">
      <form onSubmit={submit}>
        <input
          value={title}
          aria-label={words.renameTo}
          ref={(field) => field?.focus()}
          onInput={({ currentTarget }) => setTitle(currentTarget.value)}
          onKeyDown={({ key }) => key === "Escape" && onDone()}
        />
      </form>
    </li>
  );
}

export function closeIfNarrow(): void {
  if (matchMedia("(max-width: 760px)").matches) sidebarOpen.value = false;
}
