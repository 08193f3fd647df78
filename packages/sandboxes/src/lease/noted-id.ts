/** The last sandbox of a key, noted in the store of the agent where it has one. */
import type { BackendRuntime } from "deepwright";

const NAMESPACE = "sandboxes";

export interface NotedIds {
  read(): Promise<string | undefined>;
  write(id: string): Promise<void>;
}

export function notedIds(
  store: BackendRuntime["store"],
  provider: string,
  key: string,
): NotedIds | undefined {
  if (store === undefined || store === null) return undefined;
  const namespace = [NAMESPACE, provider];
  return {
    read: async () => {
      const id: unknown = (await store.get(namespace, key))?.value?.id;
      return typeof id === "string" && id !== "" ? id : undefined;
    },
    write: async (id) => store.put(namespace, key, { id }),
  };
}
