/**
 * The store: values that outlive threads, shared with the agents.
 *
 * On a server with one token the whole store is its owner's. Where `authenticate` tells callers apart, each of them
 * sees what lies below its own identity: that is where agents keep what belongs to a user.
 */
import { HEADER } from "@deepwright/protocol";
import type { BaseStore, Item } from "@langchain/langgraph";
import { HeldAnswer } from "../http/held-answer.ts";
import { Problem } from "../http/problems.ts";
import { refuseEngineObjects } from "../runs/input/engine-objects.ts";
import { tenantLabel } from "../runs/tenants.ts";
import type { Call, Handlers } from "./call.ts";
import { byteLimit, PageText } from "./listing.ts";
import type { Services } from "./services.ts";

export const storeRoutes: Handlers<"store"> = {
  "store.putItem": async ({ owner, body, services }) => {
    const namespace = ownNamespace(services, owner, body.namespace);
    // What a tool hands on of it would be a command to the engine.
    refuseEngineObjects(body.value, "value");
    await storeOf(services).put(namespace, body.key, body.value, body.index ?? undefined);
    return undefined;
  },

  "store.getItem": async ({ owner, query, services }) => {
    const namespace = ownNamespace(services, owner, query.namespace);
    const item = await storeOf(services).get(namespace, query.key);
    return item ? shownItem(services, owner, item) : null;
  },

  "store.deleteItem": async ({ owner, body, services }) => {
    await storeOf(services).delete(ownNamespace(services, owner, body.namespace ?? []), body.key);
    return undefined;
  },

  "store.searchItems": searchItems,

  "store.listNamespaces": async ({ owner, body, services }) => {
    const { prefix, suffix, max_depth, limit = 100, offset = 0 } = body ?? {};
    const own = ownPrefix(services, owner, prefix ?? []);
    const namespaces = await storeOf(services).listNamespaces({
      ...(own.length > 0 && { prefix: own }),
      ...(suffix != null && { suffix }),
      ...(max_depth != null && { maxDepth: max_depth }),
      limit,
      offset,
    });
    return { namespaces: namespaces.map((namespace) => shownNamespace(services, owner, namespace)) };
  },
};

/** Stores of others take no limit of bytes: what they found is cut here. */
async function searchItems(call: Call<"store.searchItems">): Promise<HeldAnswer> {
  const { owner, body, services } = call;
  const { namespace_prefix, filter, limit, offset, query } = body;
  const search = {
    namespacePrefix: ownPrefix(services, owner, namespace_prefix),
    limit,
    offset,
    ...(filter != null && { filter }),
    ...(query != null && { query }),
    bytes: byteLimit(services.limits),
  };
  const [found] = (await storeOf(services).batch([search])) as unknown as [FoundItem[]];
  const page = new PageText(call);
  const isCut = !found.every((item) =>
    page.add({ ...shownItem(services, owner, item), score: item.score ?? null }),
  );
  const hasMore = isCut || found.at(-1)?.more === true || found.length === limit;
  const next = String(offset + page.count);
  return new HeldAnswer(`{"items":${page.list}}`, hasMore ? { [HEADER.paginationNext]: next } : {});
}

type FoundItem = Item & { readonly score?: number; readonly more?: boolean };

function storeOf({ store }: Services): BaseStore {
  if (!store) throw new Problem("NOT_SUPPORTED", "This server has no store.");
  return store;
}

/** As the store has it: an identity may have periods, a label may not. */
function ownNamespace(services: Services, owner: string, namespace: readonly string[]): string[] {
  if (!services.tenants) return [...namespace];
  const [first, ...rest] = namespace;
  if (first !== owner)
    throw new Problem("FORBIDDEN", "The first label of a namespace must be the caller's identity.");
  return [tenantLabel(owner), ...rest];
}

/** As the caller knows it. */
function shownNamespace({ tenants }: Services, owner: string, namespace: readonly string[]): string[] {
  return tenants ? [owner, ...namespace.slice(1)] : [...namespace];
}

/** A search without a prefix covers all items of the caller. */
function ownPrefix(services: Services, owner: string, prefix: readonly string[]): string[] {
  return ownNamespace(services, owner, services.tenants && prefix.length === 0 ? [owner] : prefix);
}

function shownItem(services: Services, owner: string, item: Item) {
  const { namespace, key, value, createdAt, updatedAt } = item;
  return {
    namespace: shownNamespace(services, owner, namespace),
    key,
    value,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
