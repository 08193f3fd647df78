/** Undo of what an agent did whose process was killed. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "deepwright/testing";
import fc from "fast-check";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { sized } from "../../../../../scripts/test-size.ts";
import { until } from "../../../../../scripts/test-time.ts";
import { SqliteSaver } from "../../sqlite/index.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

const PROGRAM = await testProgram(new URL("./agent-process-for-tests.ts", import.meta.url));
const FULL_DISK = await testProgram(new URL("./full-disk-for-tests.ts", import.meta.url));

const COMMANDS: readonly string[] = [
  "sed -i s/first/FIRST/ README.md; mkdir made; for i in 1 2 3 4 5 6 7 8 9; do echo $i > made/$i; done",
  "rm -rf docs; mv src source; chmod 600 run.sh",
  "for i in 1 2 3 4 5 6 7 8 9; do echo $i > new-$i; rm -f made/$i; done; rm link.ts",
  "find . -name '*.ts' -delete; ln -s source docs; rm -rf empty",
  "rm -f README.md bytes.bin; echo end > end.txt",
];

/** Commands of a killed process may work on for a moment. */
async function untilNobodyIn(directory: string): Promise<void> {
  await until(
    () => !readdirSync("/proc").some((id) => /^\d+$/.test(id) && placeOf(id).startsWith(directory)),
  );
}

function placeOf(id: string): string {
  try {
    return readlinkSync(`/proc/${id}/cwd`);
  } catch {
    return "";
  }
}

it("R-43 at any moment: the tree equals the start again, and a person's earlier work stays", async () => {
  const run = async (share: number): Promise<void> => {
    const directory = await emptyDirectory(made);
    fillProject(directory);
    const path = join(await emptyDirectory(made), "state.db");
    const saver = await SqliteSaver.open(path);
    onTestFinished(() => saver.close());
    const thread = new ShellThread(saver, directory);
    await thread.run([say("Hello.")]);
    writeFileSync(join(directory, "mine.txt"), "mine\n");
    const before = await treeOf(directory);
    const { checkpointId = "" } = (await thread.threads.show(thread.id)).steps.at(-1) ?? {};
    const child = spawn(process.execPath, [PROGRAM, path, thread.id, directory, ...COMMANDS], {
      stdio: "ignore",
    });
    const rows = async () => (await saver.imagesOf(thread.id)).length;
    while (child.exitCode === null && (await rows()) < 1 + share * 3 * COMMANDS.length) await sleep(1);
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await untilNobodyIn(directory);
    const plan = await thread.rewind(checkpointId, true);
    const done = await thread.rewind(checkpointId);
    expect(plan).toEqual({ ...done, checkpointId: undefined, previousId: plan.previousId });
    expect([done.conflicts, done.notCovered]).toEqual([[], []]);
    expect(await treeOf(directory)).toEqual(before);
  };
  const moments = fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), run);
  await fc.assert(moments, { numRuns: sized(4, 60), endOnFailure: true });
});

it("R-45 a full disk: a restore says which files do not fit and tears none; done again, it completes", async () => {
  const disk = await emptyDirectory(made);
  const path = join(await emptyDirectory(made), "state.db");
  const flags = process.getuid?.() === 0 ? ["-m"] : ["-Urm"];
  const script = 'mount -t tmpfs -o size=6m tmpfs "$0" && exec "$@"';
  const parameters = ["unshare", ...flags, "sh", "-c", script, disk, process.execPath, FULL_DISK, path, disk];
  const { stdout, stderr, status } = spawnSync("env", parameters, { encoding: "utf8", maxBuffer: 2 ** 28 });
  expect([stderr, status]).toEqual(["", 0]);
  const { before, after, between, now, first, second, left } = JSON.parse(stdout);
  expect(first).toMatch(/^Not written: .*\/large\.txt \(ENOSPC: .*\).* Messages are unchanged\./);
  const torn = Object.keys(between).filter((name) => ![before[name], after[name]].includes(between[name]));
  expect([torn, left]).toEqual([[], []]);
  expect(second.conflicts).toEqual([]);
  expect(now).toEqual(before);
});
