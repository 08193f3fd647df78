/** The thread that is shown: its store, and what it says now. */
import {
  emptyScreen,
  openThread,
  type Screen,
  type ShownAgent,
  type ThreadSnapshot,
  type ThreadStore,
} from "@deepwright/protocol/live";
import { effect, signal } from "@preact/signals";
import { connection, session } from "./connection.ts";
import { route } from "./route.ts";

const NOTHING: ThreadSnapshot = {
  screen: emptyScreen,
  connection: "loading",
  failure: undefined,
  pending: [],
};

export const current = signal<ThreadStore | undefined>(undefined);
export const snapshot = signal<ThreadSnapshot>(NOTHING);
/** Namespace of the agent whose conversation is shown; empty: the agent of the thread. */
export const shownAgent = signal("");
/** Subagents of runs that ended before this page was open, once they were read. */
export const pastAgents = signal<Screen["subagents"]>({});

export const agentAt = (screen: Screen, place: string): ShownAgent | undefined =>
  place === "" ? screen.main : (screen.subagents[place] ?? pastAgents.value[place]);

export function showThread(threadId: string | undefined): void {
  const before = current.peek();
  if (before?.threadId === threadId) return;
  before?.close();
  shownAgent.value = "";
  pastAgents.value = {};
  snapshot.value = NOTHING;
  if (threadId === undefined) {
    current.value = undefined;
    return;
  }
  const store = openThread({ connection, threadId });
  current.value = store;
  store.subscribe(() => {
    if (current.peek() !== store) return;
    snapshot.value = store.getSnapshot();
    if (snapshot.peek().failure?.status === 401) session.value = "out";
  });
}

export function followRoute(): void {
  effect(() => {
    const { value } = route;
    if (session.value === "in") showThread(value.view === "thread" ? value.threadId : undefined);
  });
}

export const isRunning = ({ screen }: ThreadSnapshot): boolean =>
  screen.run.status === "running" || screen.run.status === "pending";
