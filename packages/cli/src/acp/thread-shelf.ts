/** The threads that sessions can be opened from: those of this machine, or those of a server elsewhere. */
import type { SessionInfo } from "@agentclientprotocol/sdk";
import { openThreads, type Threads } from "@deepwright/checkpoint";
import type { Client } from "@deepwright/protocol";
import { databaseOf, openDatabase } from "../state/database.ts";
import { safeLine } from "../terminal/safe-text.ts";

const PAGE = 50;
const TITLE_WIDTH = 80;

export interface ShelfPage {
  readonly sessions: SessionInfo[];
  readonly nextCursor?: string;
}

export interface ThreadShelf {
  page(cwd: string | undefined, cursor: string | undefined): Promise<ShelfPage>;
  has(threadId: string): Promise<boolean>;
  delete(threadId: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the database when it is first used. */
export function localShelf(db: string | undefined, environment: NodeJS.ProcessEnv): ThreadShelf {
  let opening: ReturnType<typeof openDatabase> | undefined;
  const threads = async (): Promise<Threads> => {
    opening ??= openDatabase(databaseOf(db, environment));
    return openThreads(await opening);
  };
  return {
    page: async (cwd, cursor) => {
      const { threads: found, next } = await (await threads()).list({
        limit: PAGE,
        ...(cwd !== undefined && { cwd }),
        ...(cursor !== undefined && { after: cursor }),
      });
      const sessions = found.map(({ threadId, title, firstPrompt, cwd: directory, updatedAt }) => ({
        sessionId: threadId,
        cwd: directory ?? "/",
        title: safeLine(title ?? firstPrompt ?? "", TITLE_WIDTH),
        updatedAt: new Date(updatedAt).toISOString(),
      }));
      return { sessions, ...(next !== undefined && { nextCursor: next }) };
    },
    has: async (threadId) => isFound((await threads()).show(threadId)),
    delete: async (threadId) => (await threads()).delete(threadId),
    copy: async (from, to) => (await threads()).copy(from, to),
    close: async () => (await opening)?.close(),
  };
}

async function isFound(showing: Promise<unknown>): Promise<boolean> {
  try {
    await showing;
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === "THREAD_NOT_FOUND") return false;
    throw error;
  }
}

/** Threads of a server elsewhere, whose directories mean nothing here: they belong to the one that is asked about. */
export function remoteShelf({ threads }: Client): ThreadShelf {
  return {
    page: async (cwd = "/", cursor = "0") => {
      const offset = /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
      const found = await threads.search({ limit: PAGE, offset });
      const sessions = found.map(({ thread_id, title, updated_at }) => ({
        sessionId: thread_id,
        cwd,
        title: safeLine(title ?? "", TITLE_WIDTH),
        updatedAt: String(updated_at),
      }));
      return { sessions, ...(found.length === PAGE && { nextCursor: String(offset + PAGE) }) };
    },
    has: (threadId) =>
      threads.get(threadId).then(
        () => true,
        (error: { readonly status?: unknown }) => {
          if (error.status === 404) return false;
          throw error;
        },
      ),
    delete: async (threadId) => void (await threads.delete(threadId)),
    copy: () => Promise.reject(new Error("Threads of a server elsewhere cannot be copied.")),
    close: async () => {},
  };
}
