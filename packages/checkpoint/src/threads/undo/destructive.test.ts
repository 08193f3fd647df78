import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import { SqliteSaver } from "../../sqlite/index.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

/** Destructive scripts, run one after the other. Each is undone before the next. */
const SCRIPTS: readonly string[] = [
  "rm -rf src",
  "rm -rf ./* ./.[a-z]*",
  "sed -i s/first/FIRST/ README.md",
  "sed -i 's/e/E/g' src/*.ts docs/*.md",
  "find . -name '*.ts' -delete",
  "mv src source",
  "mv README.md docs/",
  "for f in src/*.ts; do mv $f $f.bak; done",
  "chmod -R a-w src && chmod 700 run.sh",
  "chmod 000 README.md",
  "rm link.ts && ln -s /etc/passwd link.ts",
  "rm link-dir && mkdir link-dir && echo x > link-dir/file",
  "rm -rf src && ln -s docs src",
  "rm README.md && mkdir README.md && echo x > README.md/x",
  "rmdir empty/inner",
  "rm -rf empty && echo now a file > empty",
  "mkdir -p a/b/c/d && touch a/b/c/d/e",
  "mv src/Case.ts src/case.ts",
  "printf 'x' > \"$(printf 'new\\nline')\"",
  "rm \"$(printf 'line\\nbreak.txt')\"",
  "head -c 300000 /dev/urandom > bytes.bin",
  ": > README.md",
  "echo more >> README.md; echo more >> docs/long.md",
  "truncate -s 5M sparse.bin",
  "dd if=/dev/zero of=empty.txt bs=1k count=64 2>/dev/null",
  "cp -a src copy && rm -rf docs",
  "tar cf all.tar src && rm -rf src && tar xf all.tar",
  "for i in $(seq 1 300); do echo $i > n$i; done",
  "ln README.md hard && echo changed > hard",
  "rm read-only.txt && echo again > read-only.txt",
  "mkdir locked && echo x > locked/x && chmod 555 locked",
  "rm dangling && ln -s elsewhere dangling",
  "cp latin.txt README.md",
  "mkdir ' spaces and $signs' && touch ' spaces and $signs/*'",
  "touch -- -rf --help",
  "mv README.md x && mv src README.md && mv x src",
  "echo 'a b' > 'ünïcödé' && mkdir 日本",
  "rm -rf src/deep & rm -rf docs & wait",
  "(sleep 0.05; echo late > late.txt) & wait",
  "perl -pi -e 's/\\n/\\r\\n/' README.md src/main.ts",
  "chmod 1777 docs",
  "sort -r README.md -o README.md",
  "mkdir x && mv * x/ 2>/dev/null; true",
  "find . -type f -exec sh -c 'echo gone > \"$1\" 2>/dev/null' _ {} \\;",
  "ln -s . self && ln -s .. up",
  "mkfifo pipe; rm pipe; rm run.sh",
  "cat README.md README.md > both && mv both README.md",
  "echo x > src/deep/er/util.ts; rm -rf src/deep; mkdir src/deep; touch src/deep/er",
  "rm -f link.ts src/main.ts && cp run.sh link.ts",
  "umask 077; echo secret > private.txt; mkdir private",
  "for d in a b c; do mkdir $d; for i in 1 2 3; do ln -s ../src $d/$i; done; done",
  "touch README.md",
  "echo same > new && rm new",
  "exit 3",
  "rm README.md; kill -9 $$",
  "yes | head -c 2000000 > big.txt",
  "mv link-dir renamed-link",
  "find . -depth -mindepth 1 -delete",
  "chmod 755 README.md && sed -i 1d README.md",
  "git init -q . 2>/dev/null; rm -rf .git; rm -f src/main.ts",
];

const chosen = sized(
  SCRIPTS.filter((_, i) => i % 2 === 0),
  SCRIPTS,
);

it("the list has sixty scripts", () => {
  expect(new Set(SCRIPTS).size).toBe(60);
});

it.each(chosen)("undo and redo of: %s", async (command) => {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  const before = await treeOf(directory);
  const saver = new SharedMemorySaver();
  onTestFinished(() => saver.close());
  const thread = new ShellThread(saver, directory);
  await thread.run([callTool("execute", { command }), say("Done.")]);
  const after = await readableTree(directory);
  const done = await thread.rewind(-1);
  expect([done.conflicts, done.notCovered]).toEqual([[], []]);
  expect(await treeOf(directory)).toEqual(before);
  if (after === undefined) return;
  expect((await thread.rewind(done.previousId)).conflicts).toEqual([]);
  expect(await treeOf(directory)).toEqual(after);
});

/** Undefined where a file may not be read. */
async function readableTree(directory: string): Promise<Record<string, string> | undefined> {
  return treeOf(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EACCES") return undefined;
    throw error;
  });
}

it("one undo takes back file tools, commands and a subagent, from a database on disk", async () => {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  const before = await treeOf(directory);
  const saver = await SqliteSaver.open(join(await emptyDirectory(made), "state.db"));
  onTestFinished(() => saver.close());
  const thread = new ShellThread(saver, directory);
  await thread.run([
    callTool("write_file", { file_path: "/new.sh", content: "echo new\n" }),
    callTool("execute", { command: "chmod +x new.sh && ./new.sh > out.txt && rm -r docs" }),
    callTool("task", { description: "Change things.", subagent_type: "general-purpose" }),
    callTool("execute", { command: "mv src/main.ts src/renamed.ts; echo x >> new.sh" }),
    say("The subagent is done."),
    callTool("edit_file", { file_path: "/src/renamed.ts", old_string: "one", new_string: "uno" }),
    say("Done."),
  ]);
  const after = await treeOf(directory);
  const plan = await thread.rewind(-1, true);
  expect(await treeOf(directory)).toEqual(after);
  const done = await thread.rewind(-1);
  expect({ ...plan, checkpointId: done.checkpointId }).toEqual(done);
  expect(await treeOf(directory)).toEqual(before);
  expect((await thread.rewind(done.previousId)).conflicts).toEqual([]);
  expect(await treeOf(directory)).toEqual(after);
});
