/** The files of one agent in LangSmith's context hub: pulled once, changed by commits. */
import type { Client } from "langsmith";
import { DeepwrightError } from "../../errors.ts";
import { parentPath } from "../../paths.ts";
import { decodeText } from "../../text/mime.ts";
import type { FileError, FileErrorCode, FileInfo } from "../backend.ts";
import { FileFailure } from "../disk/file-errors.ts";
import type { FetchedFile, FilePrimitives, PutOptions } from "../primitives/file-primitives.ts";
import { KEY_HINT, loadSdk, sdkMessage, statusOf } from "./langsmith-sdk.ts";

export type HubClient = Pick<Client, "pullAgent" | "pushAgent">;

/** By canonical path. The version of a file is its text. */
type Files = ReadonlyMap<string, FetchedFile>;

/** One commit of the agent. */
export interface HubTree {
  readonly files: Files;
  /** Linked agents and skills: path in the hub to repository. */
  readonly linked: Readonly<Record<string, string>>;
  /** Absent: there is no commit yet. */
  readonly commit?: string;
}

/** New files by path, null for files to remove; undefined when the files no longer allow the change. */
type Plan = (files: Files) => ReadonlyMap<string, FetchedFile | null> | undefined;

interface Waiting {
  readonly plan: Plan;
  resolve(isDone: boolean): void;
  reject(error: unknown): void;
}

/** Commits tried when other programs commit at the same time. */
const ATTEMPTS = 5;

/**
 * Changes that arrive while a commit is on its way share the next one. A commit names its parent: when someone else
 * was faster, the files are pulled again and the changes are planned anew.
 */
export class HubFiles implements FilePrimitives {
  readonly #identifier: string;
  readonly #given: HubClient | undefined;
  #client: HubClient | undefined;
  #tree: Promise<HubTree> | undefined;
  #waiting: Waiting[] = [];
  #isCommitting = false;

  constructor(identifier: string, client: HubClient | undefined) {
    this.#identifier = identifier;
    this.#given = client;
    this.#client = client;
  }

  /** The newest commit this object knows. A failed pull is tried again by the next call. */
  tree(): Promise<HubTree> {
    if (this.#tree !== undefined) return this.#tree;
    const pulled = this.#pull().catch((error: unknown) => {
      if (this.#tree === pulled) this.#tree = undefined;
      throw hubFailure(error);
    });
    this.#tree = pulled;
    return pulled;
  }

  async list(prefix: string): Promise<FileInfo[]> {
    const { files } = await this.tree();
    return [...files]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, { bytes, modified_at }]) => ({ path, size: bytes.length, modified_at }));
  }

  async get(path: string): Promise<FetchedFile | undefined> {
    return (await this.tree()).files.get(path);
  }

  async put(path: string, bytes: Uint8Array, options: PutOptions): Promise<boolean | FileError> {
    const text = decodeText(bytes);
    if (text === undefined) return { error: `'${path}': the context hub keeps text only`, code: "NOT_TEXT" };
    const link = linkAt((await this.tree()).linked, path);
    if (link !== undefined)
      return { error: `'${link}' is a linked repository: change it there`, code: "PERMISSION_DENIED" };
    return this.change((files) =>
      allows(files, path, options) ? new Map([[path, fileOf(text)]]) : undefined,
    );
  }

  /** Whether the change is committed; false when its plan gave it up. */
  change(plan: Plan): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ plan, resolve, reject });
      if (!this.#isCommitting) void this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      // Changes of the same moment share a commit.
      await new Promise((resolve) => setTimeout(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const done = await this.#commit(batch);
        for (const change of batch) change.resolve(done.has(change));
      } catch (error) {
        this.#tree = undefined;
        // The SDK's client remembers a failed first request.
        this.#client = this.#given;
        for (const change of batch) change.reject(hubFailure(error));
      }
    }
    this.#isCommitting = false;
  }

  /** The changes that were committed, all together. */
  async #commit(batch: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
    for (let attempt = 1; ; attempt++) {
      const { linked, commit: parent, files: old } = await this.tree();
      const { files, changes, done } = applied(old, batch);
      if (changes.size === 0) return done;
      try {
        const commit = commitIn(await this.#push(changes, parent));
        this.#tree = commit === undefined ? undefined : Promise.resolve({ files, linked, commit });
        return done;
      } catch (error) {
        if (statusOf(error) !== 409 || attempt === ATTEMPTS) throw error;
        this.#tree = undefined;
      }
    }
  }

  async #push(
    changes: ReadonlyMap<string, FetchedFile | null>,
    parentCommit: string | undefined,
  ): Promise<string> {
    const client = await this.#connect();
    const entries = [...changes].map(([path, file]) => {
      const entry = file === null ? null : { type: "file" as const, content: file.version };
      return [path.slice(1), entry] as const;
    });
    const parent = parentCommit === undefined ? {} : { parentCommit };
    return client.pushAgent(this.#identifier, { files: Object.fromEntries(entries), ...parent });
  }

  async #pull(): Promise<HubTree> {
    const client = await this.#connect();
    try {
      const { commit_hash: commit, files } = await client.pullAgent(this.#identifier);
      const entries = Object.entries(files ?? {});
      return {
        commit,
        files: new Map(
          entries.flatMap(([path, entry]) =>
            entry.type === "file" ? [[`/${path}`, fileOf(entry.content)] as const] : [],
          ),
        ),
        linked: Object.fromEntries(
          entries.flatMap(([path, entry]) => (entry.type === "file" ? [] : [[path, entry.repo_handle]])),
        ),
      };
    } catch (error) {
      if (statusOf(error) === 404) return { files: new Map(), linked: {} };
      throw error;
    }
  }

  async #connect(): Promise<HubClient> {
    this.#client ??= new (await loadSdk(() => import("langsmith"))).Client();
    return this.#client;
  }
}

/** Each change sees the files as the changes before it leave them. */
function applied(old: Files, batch: readonly Waiting[]) {
  const files = new Map(old);
  const changes = new Map<string, FetchedFile | null>();
  const done = new Set<Waiting>();
  for (const change of batch) {
    const update = change.plan(files);
    if (update === undefined) continue;
    done.add(change);
    for (const [path, file] of update) {
      changes.set(path, file);
      if (file === null) files.delete(path);
      else files.set(path, file);
    }
  }
  return { files, changes, done };
}

/** Whether the conditions of a put hold; a new file may not lie below a file, nor where a directory is. */
function allows(files: Files, path: string, { ifAbsent, ifVersion }: PutOptions): boolean {
  if (ifVersion !== undefined) return files.get(path)?.version === ifVersion;
  if (!ifAbsent) return true;
  for (let at = path; at !== "/"; at = parentPath(at)) if (files.has(at)) return false;
  return ![...files.keys()].some((other) => other.startsWith(`${path}/`));
}

/** The link that `path` names or lies below. */
function linkAt(linked: HubTree["linked"], path: string): string | undefined {
  return Object.keys(linked)
    .map((link) => `/${link}`)
    .find((link) => path === link || path.startsWith(`${link}/`));
}

function fileOf(text: string): FetchedFile {
  return { bytes: new TextEncoder().encode(text), version: text, modified_at: new Date().toISOString() };
}

/** The URL of a commit ends with the beginning of its hash. Undefined: the next use pulls. */
function commitIn(url: string): string | undefined {
  return /\/([0-9a-f]{8,64})(?:[?#]|$)/.exec(url)?.[1];
}

/** A failure of the service as a result; errors of ours stay as they are. */
function hubFailure(error: unknown): unknown {
  if (error instanceof FileFailure || error instanceof DeepwrightError) return error;
  const status = statusOf(error);
  const code = CODES[status ?? 0] ?? "UNAVAILABLE";
  const hint = code === "PERMISSION_DENIED" ? ` ${KEY_HINT}` : "";
  return new FileFailure(code, `The context hub failed: ${sdkMessage(error)}${hint}`);
}

const CODES: Readonly<Record<number, FileErrorCode>> = {
  401: "PERMISSION_DENIED",
  403: "PERMISSION_DENIED",
  409: "CONFLICT",
  413: "TOO_LARGE",
  429: "RATE_LIMITED",
};
