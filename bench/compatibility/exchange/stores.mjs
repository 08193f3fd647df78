/** One store for both libraries. */
import { InMemoryStore } from "@langchain/langgraph";
import { readAll, stored, storedContents, writeAll, writtenContents } from "./contents.mjs";

const namespace = ["filesystem"];
const open = (library, store, fileFormat) => new library.StoreBackend({ store, namespace, fileFormat });

export const storeCases = [
  {
    name: "store: files that were put there",
    run: async ({ reader }) => {
      const store = new InMemoryStore();
      for (const [path, value] of Object.entries(stored)) await store.put(namespace, path, value);
      return readAll(open(reader, store), storedContents);
    },
  },
  {
    name: "store: files that the other wrote",
    run: async ({ writer, reader }) => {
      const store = new InMemoryStore();
      await writeAll(open(writer, store));
      return readAll(open(reader, store), writtenContents);
    },
  },
  {
    name: "store: fileFormat v1",
    run: async ({ writer, reader }) => {
      const store = new InMemoryStore();
      await open(writer, store, "v1").write("/note.md", "a\nb");
      const kept = (await store.get(namespace, "/note.md")).value.content;
      const found = await readAll(open(reader, store), { "/note.md": "a\nb" });
      const raw = await open(reader, store, "v1").readRaw("/note.md");
      return [["kept", kept, ["a", "b"]], ["readRaw v1", raw.data.content, ["a", "b"]], ...found];
    },
  },
  {
    name: "store: each sees what the other edits and deletes",
    run: async ({ writer, reader }) => {
      const store = new InMemoryStore();
      const [theirs, ours] = [open(writer, store), open(reader, store)];
      await writeAll(theirs);
      await ours.edit("/note.md", "first", "changed");
      const edited = await theirs.read("/note.md");
      await ours.delete("/drawn.png");
      const deleted = await theirs.read("/drawn.png");
      return [
        ["edited", edited.content.split("\n")[0], "changed"],
        ["deleted", deleted.content, undefined],
      ];
    },
  },
];
