/**
 * A process on a small disk: an agent changes files until the disk is full, and a restore finds it full. Prints what it
 * found as JSON. Arguments: database, directory on the small disk.
 */
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { SqliteSaver } from "../../sqlite/index.ts";
import { fillProject, ShellThread, treeOf } from "./tree-for-tests.ts";

const [path = "", disk = ""] = process.argv.slice(2);
const directory = join(disk, "project");
mkdirSync(directory);
fillProject(directory);
writeFileSync(join(directory, "large.txt"), "a line of a large file\n".repeat(40_000));
const before = await treeOf(directory);
const saver = await SqliteSaver.open(path);
const thread = new ShellThread(saver, directory);
const full = "dd if=/dev/zero of=fill bs=64k 2>/dev/null; echo more >> README.md; rm -r docs large.txt src";
await thread.run([callTool("execute", { command: full }), say("Done.")]);
const after = await treeOf(directory);

/** A person fills the disk meanwhile. */
const ballast = join(disk, "ballast");
const { bavail, bsize } = statfsSync(disk);
writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 20_000)));
rmSync(join(directory, "fill"), { force: true });
writeFileSync(join(disk, "second"), Buffer.alloc(statfsSync(disk).bavail * bsize));
const first: Error = await thread.rewind(-1).then(
  () => new Error("It had room."),
  (error) => error,
);
const between = await treeOf(directory);
rmSync(ballast);
rmSync(join(disk, "second"));
const second = await thread.rewind(-1);
const now = await treeOf(directory);
const left = readdirSync(directory).filter((name) => name.startsWith(".deepwright-"));
const report = { before, after, between, now, first: first.message, second, left };
process.stdout.write(JSON.stringify(report));
await saver.close();
