/** Edits at the edges: empty texts, special characters, line ends, repeated words. */
import { InMemoryStore } from "@langchain/langgraph";
import { FilesystemBackend, StoreBackend } from "library";
import { withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";

const CASES: [name: string, before: string, old: string, replacement: string, all?: boolean][] = [
  ["dollar", "price", "price", "$& and $1"],
  ["unicode", "naïve café 🎉", "café 🎉", "tea ✓"],
  ["windows", "one\r\ntwo\r\n", "two", "three"],
  ["lines", "a\nb\nc\n", "a\nb", "x\ny\nz"],
  ["remove", "keep drop keep", " drop", ""],
  ["all", "a a a", "a", "b", true],
  ["repeated", "aa aa", "aa", "b"],
  ["same", "text", "text", "text"],
  ["absent", "text", "none", "x"],
  ["emptyOld", "text", "", "x"],
  ["emptyFile", "", "", "now"],
  ["regex", "a.c abc", "a.c", "x"],
];

export default async function program() {
  const rootDir = scratch("edits");
  fill(rootDir, Object.fromEntries(CASES.map(([name, before]) => [`${name}.txt`, before])));
  const disk = new FilesystemBackend({ rootDir, virtualMode: true });
  const store = new StoreBackend({ store: new InMemoryStore(), namespace: ["edits"] });
  const answers: Record<string, unknown> = {};
  for (const [name, before, old, replacement, all] of CASES) {
    const path = `/${name}.txt`;
    await store.write(path, before);
    for (const [where, backend] of [["disk", disk] as const, ["store", store] as const]) {
      const { error, occurrences } = withoutWords(await backend.edit(path, old, replacement, all));
      const [file] = await backend.downloadFiles([path]);
      const text = file?.content ? new TextDecoder().decode(file.content) : null;
      answers[`${name} on ${where}`] = [error ?? false, occurrences ?? null, text];
    }
  }
  return answers;
}
