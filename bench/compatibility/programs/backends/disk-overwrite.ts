/** Writing a file that exists, on every backend and with the tool. */
import { InMemoryStore } from "@langchain/langgraph";
import { createDeepAgent, FilesystemBackend, StoreBackend } from "library";
import { withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const rootDir = scratch("disk-overwrite");
  fill(rootDir, { "a.txt": "old" });
  const disk = new FilesystemBackend({ rootDir, virtualMode: true });
  const store = new StoreBackend({ store: new InMemoryStore(), namespace: ["files"] });
  await store.write("/a.txt", "old");
  const model = scripted([
    call("write_file", { file_path: "/a.txt", content: "first" }),
    call("write_file", { file_path: "/a.txt", content: "second" }),
    "done",
  ]);
  const result = await createDeepAgent({ model }).invoke({ messages: [{ role: "user", content: "go" }] });
  return {
    disk: withoutWords(await disk.write("/a.txt", "new")),
    diskContent: (await disk.read("/a.txt")).content,
    store: withoutWords(await store.write("/a.txt", "new")),
    storeContent: (await store.read("/a.txt")).content,
    tool: result.files?.["/a.txt"]?.content,
  };
}
