/** Patterns of glob and grep on disk and in a store. */
import { InMemoryStore } from "@langchain/langgraph";
import { FilesystemBackend, StoreBackend } from "library";
import { fill, scratch } from "../../kit/scratch.ts";

const FILES = {
  "src/app.ts": "import x\nexport const a = 1;\n",
  "src/lib/util.ts": "export const b = 2;\n",
  "src/lib/util.test.ts": "test(b)\n",
  "src/style.css": "a { color: red }\n",
  "docs/guide.md": "# Guide\nexport it\n",
  "notes [1].txt": "brackets (a+b)\n",
};
const GLOBS = [
  "**/*.ts",
  "src/**/*.ts",
  "src/*.ts",
  "**/util.*",
  "**/*.{ts,css}",
  "docs/*",
  "**/[a-u]*.md",
  "*.none/**",
];
const GREPS: [pattern: string, path: string, glob?: string][] = [
  ["export", "/"],
  ["export", "/src"],
  ["export", "/src/app.ts"],
  ["export", "/", "*.ts"],
  ["export", "/", "src/lib/*.ts"],
  ["export", "/", "**/*.{md,css}"],
  ["(a+b)", "/"],
  ["EXPORT", "/"],
  ["nothing like it", "/"],
];

export default async function program() {
  const rootDir = scratch("searches");
  fill(rootDir, FILES);
  const disk = new FilesystemBackend({ rootDir, virtualMode: true });
  const store = new StoreBackend({ store: new InMemoryStore(), namespace: ["searches"] });
  for (const [path, content] of Object.entries(FILES)) await store.write(`/${path}`, content);
  const answers: Record<string, unknown> = {};
  for (const [where, backend] of [["disk", disk] as const, ["store", store] as const]) {
    for (const pattern of GLOBS) {
      const { files } = await backend.glob(pattern, "/");
      answers[`${where} glob ${pattern}`] = files?.map(({ path }) => path).sort();
    }
    for (const [pattern, path, glob] of GREPS) {
      const { matches } = await backend.grep(pattern, path, glob ?? null);
      answers[`${where} grep ${pattern} ${path} ${glob ?? ""}`] = matches
        ?.map((one) => `${one.path}:${one.line}:${one.text}`)
        .sort();
    }
  }
  return answers;
}
