/** FilesystemBackend in virtual mode: every operation once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FilesystemBackend, type LsResult } from "library";
import { withoutWords } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";

const listing = (result: LsResult) =>
  result.files?.map(({ path, is_dir, size }) => ({ path, is_dir, ...(is_dir ? {} : { size }) }));

export default async function program() {
  const rootDir = scratch("disk");
  fill(rootDir, {
    "src/a.ts": "const a = 1;\nconst b = a;\n",
    "src/deep/b.ts": "let b;\n",
    "README.md": "# Title\n\ntext",
    ".hidden": "secret",
    "empty.txt": "",
  });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const answers = {
    root: listing(await backend.ls("/")),
    src: listing(await backend.ls("/src")),
    noSuchDirectory: withoutWords(await backend.ls("/nowhere")),
    read: await backend.read("/src/a.ts"),
    page: await backend.read("/src/a.ts", 1, 1),
    empty: withoutWords(await backend.read("/empty.txt")),
    beyondTheEnd: withoutWords(await backend.read("/README.md", 10)),
    missing: withoutWords(await backend.read("/missing.txt")),
    write: withoutWords(await backend.write("/out/new.txt", "new\n")),
    edit: withoutWords(await backend.edit("/src/a.ts", "a", "x", true)),
    ambiguous: withoutWords(await backend.edit("/src/a.ts", "const", "let")),
    globbed: listing(await backend.glob("**/*.ts")),
    globbedBelow: listing(await backend.glob("*.ts", "/src")),
    found: await backend.grep("b", "/src"),
    foundByGlob: (await backend.grep("t", "/", "*.md")).matches,
    foundLiteral: (await backend.grep("a =", "/")).matches,
    capped: await backend.grep("b", "/src", null, 1),
    remove: withoutWords((await backend.delete?.("/out")) ?? {}),
    removeAgain: withoutWords((await backend.delete?.("/out")) ?? {}),
    outside: withoutWords(await backend.read("/../../etc/passwd")),
  };
  return { ...answers, onDisk: readFileSync(join(rootDir, "src/a.ts"), "utf8") };
}
