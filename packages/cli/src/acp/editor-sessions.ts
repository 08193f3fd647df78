/** The sessions of an editor: opened, listed, closed and deleted. Several run at once. */
import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { type McpServer, RequestError, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { ApprovalMode } from "@deepwright/server";
import { realDirectory } from "../run/directory.ts";
import type { Editor } from "./editor.ts";
import { EditorSession, type OpenPlace } from "./editor-session.ts";
import type { ShelfPage, ThreadShelf } from "./thread-shelf.ts";

export interface EditorSessionsOptions {
  readonly editor: () => Editor;
  readonly shelf: ThreadShelf;
  readonly mode: ApprovalMode | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** A way to open places with the MCP servers of the editor. */
  readonly places: (servers: readonly McpServer[]) => OpenPlace;
}

/** Where a session works, as an editor says it. */
export interface SessionWish {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
}

export class EditorSessions {
  private readonly open = new Map<string, EditorSession>();
  private readonly opening = new Map<string, Promise<EditorSession>>();

  constructor(private readonly options: EditorSessionsOptions) {}

  async create(wish: SessionWish): Promise<EditorSession> {
    return this.started(randomUUID(), wish, false);
  }

  /** A thread that is there; one that is open already stays as it is. */
  async enter(sessionId: string, wish: SessionWish): Promise<EditorSession> {
    const known = this.open.get(sessionId) ?? this.opening.get(sessionId);
    if (known) return known;
    const opening = this.entered(sessionId, wish);
    this.opening.set(sessionId, opening);
    return opening.finally(() => this.opening.delete(sessionId));
  }

  /** Throws for a session that is not open. */
  get(sessionId: string): EditorSession {
    const session = this.open.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  list(cwd: string | undefined, cursor: string | undefined): Promise<ShelfPage> {
    return this.options.shelf.page(cwd, cursor);
  }

  find(sessionId: string): EditorSession | undefined {
    return this.open.get(sessionId);
  }

  async close(sessionId: string): Promise<void> {
    const session = this.get(sessionId);
    this.open.delete(sessionId);
    await session.close();
  }

  async delete(sessionId: string): Promise<void> {
    const { shelf } = this.options;
    const isOpen = this.open.has(sessionId);
    if (isOpen) await this.close(sessionId);
    if (await shelf.has(sessionId)) await shelf.delete(sessionId);
    else if (!isOpen) throw RequestError.sessionNotFound(sessionId);
  }

  /** A copy of a thread as a session of its own. */
  async fork(sessionId: string, wish: SessionWish): Promise<EditorSession> {
    const { shelf } = this.options;
    if (!(await shelf.has(sessionId))) throw RequestError.sessionNotFound(sessionId);
    const copy = randomUUID();
    await shelf.copy(sessionId, copy);
    return this.started(copy, wish, true);
  }

  /** Ends all runs with their commands. */
  async closeAll(): Promise<void> {
    await Promise.allSettled(this.opening.values());
    const sessions = [...this.open.values()];
    this.open.clear();
    await Promise.allSettled(sessions.map((session) => session.close()));
    await this.options.shelf.close();
  }

  private async entered(sessionId: string, wish: SessionWish): Promise<EditorSession> {
    if (!(await this.options.shelf.has(sessionId))) throw RequestError.sessionNotFound(sessionId);
    return this.started(sessionId, wish, true);
  }

  private async started(id: string, wish: SessionWish, isThere: boolean): Promise<EditorSession> {
    const { editor, mode, environment, places } = this.options;
    const { cwd, mcpServers = [], additionalDirectories = [] } = wish;
    if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, "cwd must be an absolute path");
    if (additionalDirectories.length > 0)
      throw RequestError.invalidParams(
        undefined,
        "a session works in one directory: additionalDirectories are not supported",
      );
    const directory = await realDirectory(cwd);
    const options = { editor: editor(), id, directory, mode, environment, openPlace: places(mcpServers) };
    const session = new EditorSession(options);
    await session.start(isThere);
    this.open.set(id, session);
    return session;
  }
}

/** Sends the thread so far; a load is answered after its last update. */
export function replayed(session: EditorSession): void {
  const updates: readonly SessionUpdate[] = session.replay();
  for (const update of updates) session.editor.update(session.id, update);
}
