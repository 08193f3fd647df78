/** LangGraph's operations, checked and put into the form that goes to the database. */
import type {
  GetOperation,
  ListNamespacesOperation,
  Operation,
  PutOperation,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import type { ByteLimit } from "../sql/byte-limit.ts";
import { parseFilter } from "./filter.ts";
import { checkedKey, checkedPattern, encodeNamespace, encodePrefix } from "./namespace.ts";
import type { ListNamespaces, PutItem, SearchItems, StoreOperation } from "./store-service.ts";

/** A put may say how many minutes its item lives; `null` is for ever. */
export interface StorePutOperation extends PutOperation {
  readonly ttl?: number | null;
}

const DEFAULT_FOUND = 10;
const MINUTE_MS = 60_000;

/** The kind of an operation, decided by its fields as in LangGraph. */
export function encodeOperation(operation: Operation, defaultTtl: number | undefined): StoreOperation {
  if ("namespacePrefix" in operation) return encodeSearch(operation);
  if ("value" in operation) return encodePut(operation as StorePutOperation, defaultTtl);
  if ("key" in operation) return encodeGet(operation);
  return encodeList(operation as ListNamespacesOperation);
}

function encodeGet({ namespace, key }: GetOperation): StoreOperation {
  return { kind: "get", namespace: encodePrefix(namespace), key: checkedKey(key) };
}

/** A search may say how large its result may be. The last item of one that ended for its size has `more`. */
export interface StoreSearchOperation extends SearchOperation {
  readonly bytes?: ByteLimit;
}

function encodeSearch({ namespacePrefix, filter, limit, offset, bytes }: StoreSearchOperation): SearchItems {
  return {
    kind: "search",
    prefix: encodePrefix(namespacePrefix),
    conditions: parseFilter(filter),
    limit: checkedCount("limit", limit, DEFAULT_FOUND),
    offset: checkedCount("offset", offset, 0),
    ...(bytes && { bytes }),
  };
}

function encodePut(
  { namespace, key, value, ttl }: StorePutOperation,
  defaultTtl: number | undefined,
): PutItem {
  const minutes = ttl === undefined ? defaultTtl : ttl;
  return {
    kind: "put",
    namespace: encodeNamespace(namespace),
    key: checkedKey(key),
    body: value === null ? null : encodeValue(value),
    ttlMs: minutes === undefined || minutes === null ? null : checkedMinutes(minutes),
    vectors: [],
  };
}

function encodeList({ matchConditions, maxDepth, limit, offset }: ListNamespacesOperation): ListNamespaces {
  if (maxDepth !== undefined && !(Number.isInteger(maxDepth) && maxDepth > 0)) {
    throw new DeepwrightError("INVALID_OPTION", `maxDepth must be a whole number above 0, not ${maxDepth}.`);
  }
  return {
    kind: "list",
    matches: (matchConditions ?? []).map(({ matchType, path }) => {
      if (matchType !== "prefix" && matchType !== "suffix") {
        throw new DeepwrightError("INVALID_OPTION", `A namespace is matched by "prefix" or "suffix".`);
      }
      return { end: matchType, path: checkedPattern(path) };
    }),
    maxDepth,
    limit: checkedCount("limit", limit, Number.POSITIVE_INFINITY),
    offset: checkedCount("offset", offset, 0),
  };
}

/** NUL and lone surrogates are escapes in JSON, so the text is fit for any database. */
export function encodeValue(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw notStorable("it cannot be written as JSON", cause);
  }
  if (text === undefined) throw notStorable("it is not an object");
  return text;
}

function notStorable(problem: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("VALUE_NOT_STORABLE", `The value cannot be stored: ${problem}.`, {
    hint: "Store values are JSON.",
    cause,
  });
}

/** No limit is a number no table reaches. */
export function checkedCount(name: string, count: number | undefined, otherwise: number): number {
  const wanted = count ?? otherwise;
  if (wanted === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(wanted) && wanted >= 0) return wanted;
  throw new DeepwrightError("INVALID_OPTION", `${name} must be a whole number of at least 0, not ${wanted}.`);
}

function checkedMinutes(minutes: number): number {
  const ms = typeof minutes === "number" ? Math.round(minutes * MINUTE_MS) : Number.NaN;
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw new DeepwrightError("INVALID_OPTION", `A time to live is in minutes above 0, not ${minutes}.`);
}
