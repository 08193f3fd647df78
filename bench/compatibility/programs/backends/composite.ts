/** CompositeBackend: one default and two mounts. */
import { InMemoryStore } from "@langchain/langgraph";
import { CompositeBackend, FilesystemBackend, StoreBackend } from "library";
import { outcome, withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";

export default async function program() {
  const rootDir = scratch("composite");
  fill(rootDir, { "a.txt": "needle here", "dir/b.md": "text" });
  const disk = new FilesystemBackend({ rootDir, virtualMode: true });
  const memories = new StoreBackend({ store: new InMemoryStore(), namespace: ["memories"] });
  const docs = new StoreBackend({ store: new InMemoryStore(), namespace: ["docs"] });
  const backend = new CompositeBackend(disk, { "/memories/": memories, "/memories/docs/": docs });
  const write = await backend.write("/memories/m.md", "needle too");
  await backend.write("/memories/docs/d.md", "needle three");
  await backend.write("/dir/c.txt", "on disk");
  const paths = (result: { files?: { path: string }[] }) => result.files?.map(({ path }) => path).sort();
  return {
    isComposite: CompositeBackend.isInstance(backend),
    prefixes: backend.routePrefixes,
    write: withoutWords(write),
    inStore: paths(await memories.ls("/")),
    root: paths(await backend.ls("/")),
    mount: paths(await backend.ls("/memories")),
    read: (await backend.read("/memories/m.md")).content,
    edit: withoutWords(await backend.edit("/memories/m.md", "too", "2")),
    found: (await backend.grep("needle", "/")).matches?.map(({ path, line }) => `${path}:${line}`).sort(),
    foundInMount: (await backend.grep("needle", "/memories/docs")).matches,
    globbed: paths(await backend.glob("**/*.md", "/")),
    globbedInMount: paths(await backend.glob("*.md", "/memories/")),
    uploads: await backend.uploadFiles([
      ["/memories/u.txt", new Uint8Array([65])],
      ["/v.txt", new Uint8Array([66])],
    ]),
    downloads: (await backend.downloadFiles(["/memories/u.txt", "/v.txt", "/memories/none"])).map((one) => ({
      path: one.path,
      error: one.error,
      size: one.content?.length,
    })),
    remove: withoutWords(await backend.delete("/memories/u.txt")),
    removeMount: withoutWords(await backend.delete("/memories/docs/")),
    removeRoot: withoutWords(await backend.delete("/")),
    leftAfterRoot: paths(await backend.ls("/")),
    noExecute: await outcome(() => backend.execute("true")),
  };
}
