/** LangGraph's embedded server with its in-memory saver. Threads are kept in a map, as its documentation asks of the caller. */
import { serve } from "@hono/node-server";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createEmbedServer } from "@langchain/langgraph-api/experimental/embed";
import { graph } from "./echo.mjs";
import { sayUrl } from "./say-url.mjs";

const app = createEmbedServer({
  graph: { echo: graph },
  threads: threadsInMemory(),
  checkpointer: new MemorySaver(),
  store: new InMemoryStore(),
});
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  sayUrl(`http://127.0.0.1:${port}`, () => server.closeAllConnections()),
);

function threadsInMemory() {
  const threads = new Map();
  return {
    get: async (id) => threads.get(id) ?? null,
    set: async (id, { metadata }) => {
      const old = threads.get(id);
      const now = new Date();
      const all = { ...old?.metadata, ...metadata };
      const thread = { thread_id: id, created_at: old?.created_at ?? now, updated_at: now, metadata: all };
      threads.set(id, thread);
      return thread;
    },
    delete: async (id) => void threads.delete(id),
    async *search({ metadata = {}, limit, offset }) {
      const wanted = Object.entries(metadata ?? {});
      const found = [...threads.values()].filter((thread) =>
        wanted.every(([key, value]) => thread.metadata[key] === value),
      );
      for (const thread of found.slice(offset, offset + limit)) yield { thread, total: found.length };
    },
  };
}
