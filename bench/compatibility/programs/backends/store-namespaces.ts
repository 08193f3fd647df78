/** Namespaces of a StoreBackend inside an agent: by assistant, fixed, and from the configuration. */
import { InMemoryStore } from "@langchain/langgraph";
import { createDeepAgent, StoreBackend } from "library";
import { call, scripted } from "../../kit/scripted-model.ts";

const write = () => scripted([call("write_file", { file_path: "/a.txt", content: "a" }), "done"]);
const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const store = new InMemoryStore();
  const byDefault = createDeepAgent({ model: write(), store, backend: new StoreBackend() });
  await byDefault.invoke(input);
  const byAssistant = createDeepAgent({ model: write(), store, backend: new StoreBackend() });
  await byAssistant.invoke(input, { metadata: { assistant_id: "assistant-1" } });
  const fixed = new StoreBackend({ namespace: ["team", "files"] });
  await createDeepAgent({ model: write(), store, backend: fixed }).invoke(input);
  const dynamic = new StoreBackend({
    namespace: ({ config }) => ["users", String(config?.configurable?.user)],
  });
  await createDeepAgent({ model: write(), store, backend: dynamic }).invoke(input, {
    configurable: { user: "ann" },
  });
  const older = createDeepAgent({
    model: write(),
    store,
    backend: (runtime) => new StoreBackend(runtime, { namespace: ["older"] }),
  });
  await older.invoke(input);
  const spaces = await store.listNamespaces();
  return spaces.map((space) => space.join("/")).sort();
}
