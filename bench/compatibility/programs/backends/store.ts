/** StoreBackend over an InMemoryStore: every operation, and what the store then holds. */
import { InMemoryStore } from "@langchain/langgraph";
import { StoreBackend } from "library";
import { withoutDates, withoutWords } from "../../kit/look.ts";

export default async function program() {
  const store = new InMemoryStore();
  const backend = new StoreBackend({ store, namespace: ["memories", "ann"] });
  const write = await backend.write("/notes/a.md", "alpha\nbeta");
  await backend.write("/notes/deep/b.md", "alpha");
  await backend.write("/c.txt", "gamma");
  const edit = await backend.edit("/notes/a.md", "beta", "delta");
  const items = await store.search(["memories"]);
  const answers = {
    write,
    edit,
    keys: items.map((item) => [item.namespace, item.key, Object.keys(item.value).sort()]),
    root: await backend.ls("/"),
    notes: await backend.ls("/notes"),
    read: await backend.read("/notes/a.md"),
    page: await backend.read("/notes/a.md", 1, 5),
    found: await backend.grep("alpha", "/"),
    foundByGlob: await backend.grep("alpha", "/notes", "*.txt"),
    globbed: await backend.glob("**/*.md"),
    missing: withoutWords(await backend.read("/nowhere")),
    editMissing: withoutWords(await backend.edit("/nowhere", "a", "b")),
    remove: (await backend.delete?.("/notes")) ?? null,
    removeMissing: withoutWords((await backend.delete?.("/nowhere")) ?? {}),
  };
  const left = await store.search(["memories"]);
  return withoutDates({ ...answers, left: left.map((item) => item.key) });
}
