import { utimesSync } from "node:fs";
import { join } from "node:path";
import { openThreads } from "@deepwright/checkpoint";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, it, onTestFinished } from "vitest";
import { directoryWith, homeOf } from "../test-support/run-binary.ts";
import { removeOldSnapshots, snapshotLimits } from "./old-snapshots.ts";

it("snapshots go by age and by size, at most once a day, in the home's own database; steps stay", async () => {
  const cwd = await directoryWith({ "a.txt": "first\n" });
  const home = homeOf(cwd);
  const environment = { DEEPWRIGHT_HOME: home };
  const saver = await SqliteSaver.open(join(home, "state.db"));
  onTestFinished(() => saver.close());
  const change = async (): Promise<void> => {
    const backend = new LocalShellBackend({ rootDir: cwd, virtualMode: true });
    const model = scriptedModel([callTool("execute", { command: "date +%N >> a.txt" }), say("Done.")]);
    const agent = createDeepAgent({ model, checkpointer: saver, backend });
    await agent.invoke({ messages: "Change it" }, { configurable: { thread_id: "t1" } });
    await backend.close();
  };
  const snapshots = async (): Promise<number> => (await saver.imagesOf("t1")).length;
  const [all, tiny] = [snapshotLimits({}), Number.MIN_VALUE];
  const look = (limits: typeof all, db?: string) => removeOldSnapshots({ saver, db, limits }, environment);
  const nextDay = () => utimesSync(join(home, "snapshots-pruned"), 0, 0);

  await change();
  await look(all);
  expect(await snapshots()).toBeGreaterThan(0);
  await look({ ...all, maxDays: tiny });
  expect(await snapshots()).toBeGreaterThan(0);
  nextDay();
  await look({ ...all, maxDays: tiny }, join(home, "other.db"));
  expect(await snapshots()).toBeGreaterThan(0);
  await look({ ...all, maxDays: tiny });
  expect(await snapshots()).toBe(0);

  await change();
  nextDay();
  await look({ ...all, maxGigabytes: tiny });
  expect(await snapshots()).toBe(0);
  expect((await openThreads(saver).show("t1")).messageCount).toBe(8);
  const { conflicts } = await openThreads(saver).rewind("t1", -1, { roots: [cwd] });
  expect(conflicts).toEqual([]);
});
