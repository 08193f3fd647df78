import {
  BaseStore,
  type IndexConfig,
  type Item,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import { checkNames } from "deepwright/check-options";
import { checkDurations, every } from "deepwright/duration";
import { readStored } from "../storage/damaged.ts";
import { embedQueries, embedValues } from "./embed.ts";
import { checkedStart, decodeNamespace, encodePrefix } from "./namespace.ts";
import { checkedCount, encodeOperation, encodeValue, type StorePutOperation } from "./operations.ts";
import type { PutItem, StoredItem, StoreOperation, StoreResult, StoreService } from "./store-service.ts";

export interface StoreOptions {
  /** Makes `query` of a search rank by meaning. Without it `query` is ignored. */
  readonly index?: IndexConfig;
  readonly ttl?: TtlOptions;
}

export interface TtlOptions {
  /** How long items live that were put without a time of their own; for ever if absent. */
  readonly defaultMinutes?: number;
  /** Whether reading an item lets it live for its whole time again. Default true. */
  readonly refreshOnRead?: boolean;
  /** How often expired items are removed; they are invisible at once. Default 60. */
  readonly sweepIntervalMinutes?: number;
}

export interface PutOptions {
  /** Minutes this item lives; `null` for ever. */
  readonly ttl?: number | null;
}

export interface ListItemsOptions {
  /** Prefix of the keys. */
  readonly prefix?: string;
  /** Only keys after this one. */
  readonly after?: string;
  readonly limit?: number;
}

export interface ListedItem {
  readonly key: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const DEFAULT_LISTED = 1_000;
const SWEEP_BATCH = 500;
const DEFAULT_SWEEP_MINUTES = 60;

/**
 * LangGraph's store over a database. A namespace in a search is matched by whole parts, and results are in the order of
 * namespaces, then of first puts. Values are stored as JSON.
 */
export abstract class DurableStore extends BaseStore {
  readonly #service: StoreService;
  readonly #options: StoreOptions;
  #stopSweeping: (() => void) | undefined;

  protected constructor(service: StoreService, options: StoreOptions) {
    super();
    checkNames("ttl", options.ttl ?? {}, ["defaultMinutes", "refreshOnRead", "sweepIntervalMinutes"]);
    const { sweepIntervalMinutes = DEFAULT_SWEEP_MINUTES, defaultMinutes } = options.ttl ?? {};
    checkDurations({ unit: "minutes" }, { sweepIntervalMinutes, defaultMinutes });
    this.#service = service;
    this.#options = options;
    if (options.ttl) this.#sweepRegularly();
  }

  /** Safe twice. */
  abstract close(): Promise<void>;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  override async batch<Operations extends Operation[]>(
    operations: Operations,
  ): Promise<OperationResults<Operations>> {
    const encoded = operations.map((operation) =>
      encodeOperation(operation, this.#options.ttl?.defaultMinutes),
    );
    const prepared = await this.#embed(operations, encoded);
    if (prepared.some((one) => one.kind === "put" && one.ttlMs !== null)) this.#sweepRegularly();
    const results = await this.#service.batch({
      operations: prepared,
      now: Date.now(),
      refreshOnRead: this.#options.ttl?.refreshOnRead ?? true,
    });
    return results.map((result, place) =>
      decodeResult(prepared[place]!, result),
    ) as OperationResults<Operations>;
  }

  /** Like LangGraph's, and `ttl` for this item. */
  override async put(
    namespace: string[],
    key: string,
    value: Item["value"],
    index?: false | string[],
    options: PutOptions = {},
  ): Promise<void> {
    const operation: StorePutOperation = { namespace, key, value, index, ttl: options.ttl };
    await this.batch([operation]);
  }

  /**
   * The keys of exactly this namespace, in the order of their bytes, without reading a value. At most
   * `limit` (default 1,000); go on with the last one as `after`.
   */
  async listItems(namespace: string[], options: ListItemsOptions = {}): Promise<ListedItem[]> {
    const { prefix = "", after = "", limit = DEFAULT_LISTED } = options;
    const list = {
      namespace: encodePrefix(namespace),
      prefix: checkedStart(prefix),
      after: checkedStart(after),
      limit: checkedCount("limit", limit, DEFAULT_LISTED),
    };
    const keys = await this.#service.listKeys(list, Date.now());
    return keys.map(({ key, createdAt, updatedAt }) => ({
      key,
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    }));
  }

  /**
   * Puts `value` (null: deletes) if the stored value equals `expected` (null: none), and returns whether it did. Of
   * several callers in any processes that expect the same value, one succeeds.
   */
  async putIf(
    namespace: string[],
    key: string,
    value: Item["value"] | null,
    expected: Item["value"] | null,
  ): Promise<boolean> {
    const operation = { namespace, key, value } as PutOperation;
    const put = encodeOperation(operation, this.#options.ttl?.defaultMinutes) as PutItem;
    const [prepared] = await this.#embed([operation], [put]);
    if (put.ttlMs !== null) this.#sweepRegularly();
    const before = expected === null ? null : encodeValue(expected);
    return this.#service.putIf(prepared as PutItem, before, Date.now());
  }

  /** Removes all expired items and returns their number. */
  async sweep(): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await this.#service.sweep(Date.now(), SWEEP_BATCH);
      removed += count;
      if (count < SWEEP_BATCH) return removed;
    }
  }

  override async stop(): Promise<void> {
    await this.close();
  }

  protected stopSweeping(): void {
    this.#stopSweeping?.();
  }

  /** A failure in the background is retried at the next turn; a caller of `sweep` gets it. */
  #sweepRegularly(): void {
    if (this.#stopSweeping) return;
    const minutes = this.#options.ttl?.sweepIntervalMinutes ?? DEFAULT_SWEEP_MINUTES;
    this.#stopSweeping = every(minutes * 60_000, () => this.sweep().catch(() => {}), { ref: false });
  }

  async #embed(
    operations: readonly Operation[],
    encoded: readonly StoreOperation[],
  ): Promise<readonly StoreOperation[]> {
    const { index } = this.#options;
    if (!index) return encoded;
    const queryOf = (place: number) => (operations[place] as { query?: string }).query;
    const queries = encoded.flatMap((one, place) => (one.kind === "search" && queryOf(place)) || []);
    const byQuery = await embedQueries(index, queries);
    const values = operations.map((operation) => embeddable(operation as PutOperation, index));
    const vectors = await embedValues(index, values);
    return encoded.map((one, place) => {
      if (one.kind === "search") return { ...one, vector: byQuery.get(queryOf(place) ?? "") };
      return one.kind === "put" ? { ...one, vectors: vectors[place]! } : one;
    });
  }
}

function embeddable({ value, index: own }: PutOperation, index: IndexConfig) {
  return { value, fields: own === false ? [] : (own ?? index.fields ?? ["$"]) };
}

function decodeResult(operation: StoreOperation, result: StoreResult): unknown {
  if (result === null) return null;
  if (operation.kind === "list") return (result as readonly string[]).map(decodeNamespace);
  return Array.isArray(result) ? result.map(decodeFound) : decodeItem(result as StoredItem);
}

function decodeItem({ namespace, key, body, createdAt, updatedAt }: StoredItem): Item {
  return {
    value: readStored(`the value of the item "${key}"`, () => JSON.parse(body)),
    key,
    namespace: decodeNamespace(namespace),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}

function decodeFound(item: StoredItem): SearchItem {
  return { ...decodeItem(item), score: item.score, ...(item.more && { more: true }) };
}
