/** Backends made by a function, resolved by hand and by the agent. */

import { InMemoryStore } from "@langchain/langgraph";
import {
  type BackendRuntime,
  CompositeBackend,
  createDeepAgent,
  resolveBackend,
  StateBackend,
  StoreBackend,
} from "library";
import { withoutDates } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const date = "2026-01-01T00:00:00.000Z";
  const files = { "/a.txt": { content: "a", mimeType: "text/plain", created_at: date, modified_at: date } };
  const runtime = { state: { files } } as unknown as BackendRuntime;
  const resolved = await resolveBackend((given) => new StateBackend(given), runtime);
  const same = new StateBackend(runtime);
  const store = new InMemoryStore();
  const model = scripted([
    call("write_file", { file_path: "/memories/m.txt", content: "kept" }),
    call("write_file", { file_path: "/draft.txt", content: "draft" }),
    call("delete", { file_path: "/draft.txt" }),
    "done",
  ]);
  const agent = createDeepAgent({
    model,
    store,
    backend: (config) =>
      new CompositeBackend(new StateBackend(config as BackendRuntime), {
        "/memories/": new StoreBackend(config, { namespace: ["m"] }),
      }),
  });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }], files });
  return withoutDates({
    resolved: (await resolved.read("/a.txt")).content,
    instance: (await (await resolveBackend(same, runtime)).read("/a.txt")).content,
    files: result.files,
    stored: (await store.search(["m"])).map((item) => [item.key, item.value.content]),
  });
}
