/** Moves of what snapshots do not keep. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { afterAll, expect, it } from "vitest";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

it("the only copy of a key file or a repository that was moved stays, and everything else goes back", async () => {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  mkdirSync(join(directory, ".git/objects/ab"), { recursive: true });
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(directory, ".git/objects/ab/cd"), "an object");
  writeFileSync(join(directory, ".env"), "KEY=secret\n");
  writeFileSync(join(directory, "server.pem"), "a key\n");
  const before = await treeOf(directory);
  const thread = new ShellThread(new SharedMemorySaver(), directory);
  const command =
    "mkdir old && mv .git old/repository && mv .env old/settings && mv server.pem old/ && rm docs/long.md && echo x > new.txt";
  await thread.run([callTool("execute", { command }), say("Done.")]);
  const plan = await thread.rewind(-1, true);
  const done = await thread.rewind(-1);
  expect(plan.notCovered).toEqual(done.notCovered);
  const moved = (name: string) =>
    name
      .replace(".git", "old/repository")
      .replace(".env", "old/settings")
      .replace("server.pem", "old/server.pem");
  const expected = Object.entries(before).map(([name, entry]) => [moved(name), entry]);
  const after = await treeOf(directory);
  expect(after).toEqual({ ...Object.fromEntries(expected), old: after.old });
  const reasons = Object.fromEntries(done.notCovered.map(({ path, reason }) => [path, reason]));
  for (const [path, from] of [
    ["/old/repository", "/.git"],
    ["/old/settings", "/.env"],
    ["/old/server.pem", "/server.pem"],
  ] as const)
    expect(reasons[path]).toBe(
      `It was ${from}, whose content is not kept. It stays here; move it back by hand.`,
    );
});
