/** The frame of the page: threads, what is shown, and the work beside it. */
import { useEffect } from "preact/hooks";
import { approvals, waitingCount } from "../state/approvals.ts";
import { session } from "../state/connection.ts";
import { directoryOf, shortName } from "../state/directories.ts";
import { dismiss, notices } from "../state/notices.ts";
import { paletteOpen, panelOpen, sidebarOpen } from "../state/preferences.ts";
import { go, route } from "../state/route.ts";
import { assistantOf, threadItem, titleOf } from "../state/threads.ts";
import { undoRequest } from "../undo/undo-request.ts";
import { words } from "../words.ts";
import { lazy } from "./lazy.tsx";
import { NewThread } from "./new-thread.tsx";
import { SignIn } from "./sign-in.tsx";
import { ThreadList } from "./thread-list.tsx";
import { ThreadView } from "./thread-view.tsx";

const WorkPanel = lazy(async () => (await import("../work/work-panel.tsx")).WorkPanel);
const Inbox = lazy(async () => (await import("./inbox.tsx")).Inbox);
const Palette = lazy(async () => (await import("./palette.tsx")).Palette);
const Settings = lazy(async () => (await import("../settings/settings-view.tsx")).SettingsView);
const UsageView = lazy(async () => (await import("../cost/usage-view.tsx")).UsageView);
const TimeView = lazy(async () => (await import("../time/time-view.tsx")).TimeView);
const CompareView = lazy(async () => (await import("../time/compare-view.tsx")).CompareView);
const UndoDialog = lazy(async () => (await import("../undo/undo-dialog.tsx")).UndoDialog);

export function App() {
  useTitle();
  useKeys();
  useNarrowSidebar();
  if (session.value === "out") return <SignIn />;
  const at = route.value;
  const isThread = at.view === "thread";
  return (
    <div
      class={`app ${sidebarOpen.value ? "with-sidebar" : ""} ${isThread && panelOpen.value ? "with-panel" : ""}`}
    >
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        {words.skip}
      </button>
      <TopBar />
      {sidebarOpen.value && <ThreadList />}
      <main id="main" tabIndex={-1}>
        {at.view === "thread" && (
          <ThreadView key={at.threadId} threadId={at.threadId} messageId={at.messageId} />
        )}
        {at.view === "steps" && (
          <TimeView key={at.threadId} threadId={at.threadId} checkpointId={at.checkpointId} />
        )}
        {at.view === "compare" && <CompareView threadIds={at.threads} />}
        {at.view === "inbox" && <Inbox />}
        {at.view === "settings" && <Settings />}
        {at.view === "usage" && <UsageView />}
        {at.view === "new" && <NewThread />}
      </main>
      {isThread && panelOpen.value && <WorkPanel />}
      {paletteOpen.value && <Palette />}
      {isThread && undoRequest.value && <UndoDialog />}
      <Notices />
    </div>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  inbox: words.inbox,
  settings: words.settings,
  usage: words.usage,
  compare: words.compare,
};

function TopBar() {
  const at = route.value;
  const thread = at.view === "thread" || at.view === "steps" ? threadItem(at.threadId) : undefined;
  const directory = thread && directoryOf(assistantOf(thread.thread_id));
  const title = thread ? (titleOf(thread) ?? words.untitled) : (TITLES[at.view] ?? words.app);
  return (
    <header class="top">
      <button
        type="button"
        class="quiet"
        aria-label={sidebarOpen.value ? words.closeSidebar : words.openSidebar}
        aria-expanded={sidebarOpen.value}
        onClick={() => (sidebarOpen.value = !sidebarOpen.peek())}
      >
        ☰{!sidebarOpen.value && waitingCount.value > 0 && <span class="dot interrupted" />}
      </button>
      <span class="top-title">{title}</span>
      {directory !== undefined && (
        <span class="top-place" title={directory}>
          {words.inDirectory(shortName(directory))}
        </span>
      )}
      {at.view === "thread" && (
        <button type="button" class="quiet" onClick={() => go({ view: "steps", threadId: at.threadId })}>
          {words.history}
        </button>
      )}
      {at.view === "thread" && (
        <button
          type="button"
          class="quiet"
          aria-label={panelOpen.value ? words.closePanel : words.openPanel}
          aria-expanded={panelOpen.value}
          onClick={() => (panelOpen.value = !panelOpen.peek())}
        >
          {words.work}
        </button>
      )}
    </header>
  );
}

function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, isFailure, action }) => (
        <div key={id} class={`toast ${isFailure ? "failure" : ""}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="quiet" aria-label={words.close} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** The number of threads that wait stands in the title of the window. */
function useTitle(): void {
  const waiting = waitingCount.value;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${words.app}` : words.app;
  }, [waiting]);
  void approvals;
}

function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        paletteOpen.value = !paletteOpen.peek();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** On a narrow screen the threads cover the conversation: a click beside them, or Escape, closes them. */
function useNarrowSidebar(): void {
  useEffect(() => {
    const close = (event: KeyboardEvent | PointerEvent): void => {
      const main = document.getElementById("main");
      const isKey = event instanceof KeyboardEvent;
      const isMeant = isKey ? event.key === "Escape" : main?.contains(event.target as Node);
      if (!isMeant || !sidebarOpen.peek() || !matchMedia("(max-width: 760px)").matches) return;
      if (isKey && paletteOpen.peek()) return;
      if (isKey) main?.focus();
      sidebarOpen.value = false;
    };
    const controller = new AbortController();
    addEventListener("keydown", close, controller);
    addEventListener("pointerdown", close, controller);
    return () => controller.abort();
  }, []);
}
