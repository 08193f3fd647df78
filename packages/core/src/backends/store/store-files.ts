/** The items of one namespace of a store, seen as files. Keys are canonical paths. */
import { type BaseStore, InMemoryStore, type Item } from "@langchain/langgraph";
import { storeBehind } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { canonicalPath, parentPath } from "../../paths.ts";
import { encodeBase64 } from "../../text/base64.ts";
import type { AnyFileData, FileData, FilesUpdate, SkippedFile } from "../backend.ts";
import { isText, olderShape } from "../file-map/file-map.ts";
import { KeyLock } from "../key-lock.ts";
import { storedNamespace } from "./store-namespace.ts";

export interface ListedItem {
  readonly key: string;
  readonly updatedAt?: Date;
  /** Absent where it was not asked for. */
  readonly value?: unknown;
}

/** Abilities of a store beyond LangGraph's interface. A missing method means that the store lacks the ability. */
export interface FileStoreAbilities {
  /** Keys of exactly this namespace that begin with `prefix`, after `after`, in the order of code points. */
  listItems?(
    namespace: string[],
    options: { readonly prefix?: string; readonly after?: string; readonly limit?: number },
  ): Promise<readonly ListedItem[]>;
  /** Puts `value` (null: deletes) if the stored value equals `expected` (null: none); returns whether it did. */
  putIf?(
    namespace: string[],
    key: string,
    value: Record<string, unknown> | null,
    expected: Record<string, unknown> | null,
  ): Promise<boolean>;
}

type FileStore = BaseStore & FileStoreAbilities;

/** Files of a namespace; `data` is absent where the store gave keys only. */
export interface ListedFile {
  readonly path: string;
  readonly data?: AnyFileData;
  /** ISO 8601. */
  readonly modified_at: string;
}

export interface Listing {
  /** Sorted by path, in code units. */
  readonly files: readonly ListedFile[];
  readonly skipped: readonly SkippedFile[];
}

/** A file as it was read; `commit` compares with `value`. */
export interface FoundFile {
  readonly data: AnyFileData;
  readonly value: Record<string, unknown>;
}

const SEARCH_PAGE = 1000;
const LIST_PAGE = 5000;
const GET_BATCH = 200;
/** Namespaces whose directories are remembered, of each store that cannot list keys. */
const MAX_REMEMBERED = 1000;

const turnsOf = new WeakMap<BaseStore, KeyLock>();
const directoriesOf = new WeakMap<BaseStore, Map<string, Set<string>>>();

export class StoreFiles {
  readonly #store: FileStore;
  readonly #namespace: string[];
  readonly #name: string;
  readonly #lines: boolean;

  /** With `lines` text is written in the older form, one string a line. */
  constructor(store: BaseStore, namespace: readonly string[], lines = false) {
    this.#store = storeBehind<FileStore>(store);
    this.#namespace = storedNamespace(namespace);
    this.#name = JSON.stringify(this.#namespace);
    this.#lines = lines;
  }

  /** Changes made in one process to one namespace wait for each other. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turns = turnsOf.get(this.#store) ?? new KeyLock();
    turnsOf.set(this.#store, turns);
    return turns.take(this.#name, work);
  }

  async get(path: string): Promise<FoundFile | undefined> {
    return this.#found(await this.#store.get(this.#namespace, path));
  }

  /** Files that exist. An entry that is not a file is an error, or is added to `skipped` if that is given. */
  async getAll(paths: readonly string[], skipped?: SkippedFile[]): Promise<Map<string, FoundFile>> {
    const all = new Map<string, FoundFile>();
    for (let start = 0; start < paths.length; start += GET_BATCH) {
      const keys = paths.slice(start, start + GET_BATCH);
      const items = await this.#store.batch(keys.map((key) => ({ namespace: this.#namespace, key })));
      items.forEach((item, index) => {
        const file = this.#found(item as Item | null, skipped);
        if (file !== undefined) all.set(keys[index] as string, file);
      });
    }
    return all;
  }

  /** Files whose path begins with `prefix` and passes `wanted`. */
  async list(prefix: string, wanted: (path: string) => boolean = () => true): Promise<Listing> {
    const files: ListedFile[] = [];
    const skipped: SkippedFile[] = [];
    const seen = new Set<string>();
    const add = (path: string, item: ListedItem): void => {
      if (!path.startsWith(prefix) || seen.has(path) || !wanted(path)) return;
      seen.add(path);
      const file = listedFile(path, item);
      if ("code" in file) skipped.push(file);
      else files.push(file);
    };
    const pages = this.#store.listItems ? this.#keys(prefix) : this.#items();
    for await (const page of pages) for (const item of page) add(item.key, item);
    return { files: files.sort(byPath), skipped: skipped.sort(byPath) };
  }

  /**
   * Whether a file lies in `directory`. A store that cannot list keys is read once for this and then
   * remembered: a directory that only another process made since may be missed.
   */
  async isDirectory(directory: string): Promise<boolean> {
    const prefix = `${directory}/`;
    if (this.#store.listItems) {
      const [first] = await this.#store.listItems(this.#namespace, { prefix, limit: 1 });
      return first !== undefined;
    }
    const known = await this.#directories();
    if (!known.has(directory)) return false;
    if ((await this.list(prefix)).files.length > 0) return true;
    known.delete(directory);
    return false;
  }

  /** Stores one change; false when the file differs from `before`. */
  async commit(path: string, data: AnyFileData | null, before: FoundFile | undefined): Promise<boolean> {
    const value = data === null ? null : this.#valueOf(data);
    if (this.#store.putIf) return this.#store.putIf(this.#namespace, path, value, before?.value ?? null);
    if (value === null) await this.#store.delete(this.#namespace, path);
    else await this.#store.put(this.#namespace, path, value);
    this.#remember(path);
    return true;
  }

  /** Stores many changes and replaces existing files. */
  async commitAll(update: FilesUpdate): Promise<void> {
    const operations = Object.entries(update).map(([key, data]) => ({
      namespace: this.#namespace,
      key,
      value: data === null ? null : this.#valueOf(data),
    }));
    for (let start = 0; start < operations.length; start += GET_BATCH)
      await this.#store.batch(operations.slice(start, start + GET_BATCH));
    for (const path of Object.keys(update)) this.#remember(path);
  }

  async *#keys(prefix: string): AsyncGenerator<readonly ListedItem[]> {
    let after: string | undefined;
    for (;;) {
      const page =
        (await this.#store.listItems?.(this.#namespace, { prefix, after, limit: LIST_PAGE })) ?? [];
      yield page;
      after = page.at(-1)?.key;
      if (page.length < LIST_PAGE) return;
    }
  }

  /**
   * A search is by prefix, so items of namespaces below (and in some stores beside) this one come along:
   * they count for the offset and for nothing else. A short page need not be the last: stores have limits.
   */
  async *#items(): AsyncGenerator<readonly ListedItem[]> {
    const whole = this.#store instanceof InMemoryStore;
    const limit = whole ? Number.MAX_SAFE_INTEGER : SEARCH_PAGE;
    for (let offset = 0; ; ) {
      const page = await this.#store.search(this.#namespace, { limit, offset });
      yield page.filter((item) => this.#isOurs(item));
      offset += page.length;
      if (whole || page.length === 0) return;
    }
  }

  #isOurs({ namespace }: Item): boolean {
    return (
      namespace.length === this.#namespace.length &&
      namespace.every((part, index) => part === this.#namespace[index])
    );
  }

  #found(item: Item | null, skipped?: SkippedFile[]): FoundFile | undefined {
    if (item === null || item === undefined) return undefined;
    if (!this.#isOurs(item)) throw sharedNamespace(this.#namespace, item.namespace);
    const data = fileDataOf(item.value);
    if (data !== undefined) return { data, value: item.value };
    if (skipped === undefined) throw new NotAFileError(item.key);
    skipped.push({ path: item.key, code: "UNAVAILABLE" });
    return undefined;
  }

  /** Stores other than the one in memory keep JSON, in which bytes are base64. */
  #valueOf(data: AnyFileData): Record<string, unknown> {
    if (this.#lines && isText(data)) return { ...olderShape(data) };
    const { content, mimeType, created_at, modified_at } = data as FileData;
    const keepsBytes = this.#store instanceof InMemoryStore;
    const stored = content instanceof Uint8Array && !keepsBytes ? encodeBase64(content) : content;
    return { content: stored, ...(mimeType ? { mimeType } : {}), created_at, modified_at };
  }

  async #directories(): Promise<Set<string>> {
    const known = this.#knownDirectories();
    if (known !== undefined) return known;
    const { files } = await this.list("/");
    const byName = directoriesOf.get(this.#store) ?? new Map<string, Set<string>>();
    const directories = new Set<string>();
    if (byName.size >= MAX_REMEMBERED) byName.delete(byName.keys().next().value as string);
    byName.set(this.#name, directories);
    directoriesOf.set(this.#store, byName);
    for (const { path } of files) this.#remember(path);
    return directories;
  }

  #knownDirectories(): Set<string> | undefined {
    return directoriesOf.get(this.#store)?.get(this.#name);
  }

  #remember(path: string): void {
    const known = this.#knownDirectories();
    if (known === undefined) return;
    for (let parent = parentPath(path); parent !== "/" && !known.has(parent); parent = parentPath(parent))
      known.add(parent);
  }
}

/** A key that is no path is not a file of ours. */
function listedFile(path: string, { value, updatedAt }: ListedItem): ListedFile | SkippedFile {
  if (canonicalPath(path).path !== path) return { path, code: "INVALID_PATH" };
  if (value === undefined) return { path, modified_at: updatedAt?.toISOString() ?? "" };
  const data = fileDataOf(value);
  return data === undefined ? { path, code: "UNAVAILABLE" } : { path, data, modified_at: data.modified_at };
}

/** Also reads values that others wrote: lists of lines, and bytes, raw or in JSON form. */
function fileDataOf(value: unknown): AnyFileData | undefined {
  const given = value as { content?: unknown } | null;
  const content = given?.content;
  if (typeof content === "string" || Array.isArray(content)) return given as AnyFileData;
  if (typeof content !== "object" || content === null) return undefined;
  const bytes = ArrayBuffer.isView(content) ? (content as Uint8Array) : bytesIn(content);
  return bytes === undefined ? undefined : { ...(given as FileData), content: bytes };
}

function bytesIn(content: object): Uint8Array | undefined {
  const list: unknown = "data" in content ? content.data : Object.values(content);
  if (!Array.isArray(list) || !list.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256))
    return undefined;
  return Uint8Array.from(list as number[]);
}

function sharedNamespace(ours: readonly string[], theirs: readonly string[]): DeepwrightError {
  return new DeepwrightError(
    "INVALID_NAMESPACE",
    `This store keeps the namespaces ${JSON.stringify(ours)} and ${JSON.stringify(theirs)} in one place.`,
    { hint: "Use parts without ':' here." },
  );
}

/** Someone keeps other things in this namespace: not a failure of the store. */
export class NotAFileError extends DeepwrightError {
  constructor(key: string) {
    super("STORAGE_CORRUPT", `The store holds something else than a file at '${key}'`);
  }
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
