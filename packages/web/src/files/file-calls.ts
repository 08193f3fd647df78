/** Files of the directory and of the thread, as the server gives them. */
import { ProtocolError } from "@deepwright/protocol/live";
import { call, connection, request } from "../state/connection.ts";
import type { OpenedFile } from "./open-file.ts";

export interface Entry {
  readonly path: string;
  readonly is_dir: boolean;
  readonly size?: number;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly next?: string;
}

const DIRECTORY = { method: "GET", path: "/workspace/files/content" } as const;
const THREAD = { method: "GET", path: "/threads/:thread_id/files/content" } as const;

/** Undefined: the server shows no directory of the agent. */
export async function listDirectory(
  agent: string,
  path: string,
  after?: string,
): Promise<EntryPage | undefined> {
  try {
    return await call<EntryPage>("GET", "/workspace/files", { query: { path, after, assistant_id: agent } });
  } catch (error) {
    if (error instanceof ProtocolError && error.code === "NOT_SUPPORTED") return undefined;
    throw error;
  }
}

const MOST_PAGES = 20;

export async function listThreadFiles(threadId: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { files, next } = await call<{
      readonly files: readonly { readonly path: string; readonly size: number }[];
      readonly next?: string;
    }>("GET", "/threads/:thread_id/files", { parameters: { thread_id: threadId }, query: { after } });
    found.push(...files.map(({ path, size }) => ({ path, size, is_dir: false })));
    if (next === undefined) break;
    after = next;
  }
  return found;
}

export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Undefined: it is no text. */
  readonly text: string | undefined;
  /** For the next save; null for files of a thread. */
  readonly etag: string | null;
}

const partsOf = ({ source, path, agent }: OpenedFile, threadId: string) =>
  source === "directory"
    ? { route: DIRECTORY, raw: { query: { path, assistant_id: agent } } }
    : { route: THREAD, raw: { parameters: { thread_id: threadId }, query: { path } } };

/** The byte order mark stays in the text. */
export async function readFile(file: OpenedFile, threadId: string): Promise<FileContent> {
  const { route, raw } = partsOf(file, threadId);
  const response = await request("GET", route.path, raw);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isText = response.headers.get("content-type")?.startsWith("text/plain") === true;
  const text = isText ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : undefined;
  return { bytes, text, etag: response.headers.get("etag") };
}

/** The server answers it as an attachment: a browser saves it and never shows it as a page. */
export function addressOf(file: OpenedFile, threadId: string): string {
  const { route, raw } = partsOf(file, threadId);
  return connection.pathOf(route, raw);
}

/** `etag` null: the file is new. Returns the etag of what is there now. */
export async function saveFile(
  { agent, path }: Pick<OpenedFile, "agent" | "path">,
  content: string,
  etag: string | null,
): Promise<string> {
  const headers: Readonly<Record<string, string>> =
    etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  const saved = await call<{ readonly etag: string }>("PUT", "/workspace/files/content", {
    query: { assistant_id: agent },
    body: { path, content },
    headers,
  });
  return saved.etag;
}

export const isChanged = (error: unknown): boolean =>
  error instanceof ProtocolError && error.code === "CHANGED";

export const isGone = (error: unknown): boolean => error instanceof ProtocolError && error.status === 404;

const MOST_TRIES = 50;

/** Saves the text beside the file, under a name that is free. Returns the path. */
export async function saveBeside({ agent, path }: OpenedFile, content: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const beside = `${path}.mine${number === 1 ? "" : `-${number}`}`;
    try {
      await saveFile({ agent, path: beside }, content, null);
      return beside;
    } catch (error) {
      if (!isChanged(error) || number === MOST_TRIES) throw error;
    }
  }
}
