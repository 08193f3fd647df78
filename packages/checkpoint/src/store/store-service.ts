/** Data between the store's interface and the database, possibly across a worker: plain data only. */
import type { ByteLimit } from "../sql/byte-limit.ts";
import type { Condition } from "./filter.ts";

/** Namespaces are encoded, see `namespace.ts`. */
export type StoreOperation = GetItem | SearchItems | PutItem | ListNamespaces;

export interface GetItem {
  readonly kind: "get";
  readonly namespace: string;
  readonly key: string;
}

export interface SearchItems {
  readonly kind: "search";
  readonly prefix: string;
  readonly conditions: readonly Condition[];
  readonly limit: number;
  readonly offset: number;
  /** Best first by nearness to it; items without a vector come last. */
  readonly vector?: Float32Array;
  /** The result ends early when it is so large. Default: no limit. */
  readonly bytes?: ByteLimit;
}

export interface PutItem {
  readonly kind: "put";
  readonly namespace: string;
  readonly key: string;
  /** JSON; `null` deletes. */
  readonly body: string | null;
  readonly ttlMs: number | null;
  readonly vectors: readonly ItemVector[];
}

export interface ItemVector {
  readonly field: string;
  readonly vector: Float32Array;
}

export interface ListNamespaces {
  readonly kind: "list";
  readonly matches: readonly NamespaceMatch[];
  readonly maxDepth: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A `*` in the path stands for any one part. */
export interface NamespaceMatch {
  readonly end: "prefix" | "suffix";
  readonly path: readonly string[];
}

/** Keys of one namespace, exactly, in the order of their bytes. */
export interface ListKeys {
  readonly namespace: string;
  /** Prefix of the keys. */
  readonly prefix: string;
  /** Only keys after this one. */
  readonly after: string;
  readonly limit: number;
}

export interface StoredKey {
  readonly key: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface StoredItem {
  readonly namespace: string;
  readonly key: string;
  readonly body: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly score?: number;
  /** True for the last item of a search that ended for its size: others follow. */
  readonly more?: boolean;
}

/** For `get` an item, for `search` items, for `list` encoded namespaces, for `put` nothing. */
export type StoreResult = StoredItem | readonly StoredItem[] | readonly string[] | null;

export interface StoreBatch {
  readonly operations: readonly StoreOperation[];
  /** Milliseconds since 1970. What has expired by then does not exist. */
  readonly now: number;
  /** Whether items read live on for their whole time to live. */
  readonly refreshOnRead: boolean;
}

export interface StoreService {
  /** One transaction. Reads see what was there before the puts of the same batch. */
  batch(batch: StoreBatch): Promise<readonly StoreResult[]>;
  listKeys(list: ListKeys, now: number): Promise<readonly StoredKey[]>;
  /** Puts if what is stored is `expected` (JSON; null: nothing); says whether it did. */
  putIf(put: PutItem, expected: string | null, now: number): Promise<boolean>;
  /** Removes up to `limit` expired items and says how many. */
  sweep(now: number, limit: number): Promise<number>;
}
