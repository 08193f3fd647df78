import { copyFileSync, existsSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, it } from "vitest";
import { putStep, readStep, tree, uuid } from "../home/content-for-tests.ts";
import { needsCheck } from "./database-file.ts";
import { startProcess } from "./processes-for-tests.ts";
import { scratchFile } from "./scratch-for-tests.ts";
import { openSqliteHome } from "./sqlite-home.ts";

describe("a file and several processes", () => {
  it("several processes write to one file at once, and nothing is lost", async () => {
    const path = scratchFile();
    const names = ["one", "two", "three", "four"];
    await Promise.all(names.map((name) => startProcess("write", path, 40, name).ended));
    const home = await openSqliteHome(path);
    for (const name of names) {
      expect((await home.thread(name))?.checkpointCount).toBe(40);
      const step = await readStep(home, name, uuid(7));
      expect(step?.content).toEqual([tree(`${name} 7 `.padEnd(2_000, "x")), tree("common 7")]);
    }
    await home.close();
  });

  it("R-07 a file another process holds stalls the event loop for 250 ms at most, then work goes on", async () => {
    const path = scratchFile();
    const home = await openSqliteHome(path);
    await putStep(home, { threadId: "t", id: uuid(1) });
    await home.close();
    const holder = startProcess("lock", path, 2_500);
    await holder.said("locked");
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const started = performance.now();
    const opened = await openSqliteHome(path);
    await putStep(opened, { threadId: "t", id: uuid(2) });
    const waited = performance.now() - started;
    delay.disable();
    expect(waited).toBeGreaterThan(1_000);
    expect(delay.max / 1e6).toBeLessThan(250);
    expect((await opened.thread("t"))?.checkpointCount).toBe(2);
    await opened.close();
  });

  it("R-07 a long transaction of another process delays writing only, and never the event loop", async () => {
    const path = scratchFile();
    const home = await openSqliteHome(path);
    await putStep(home, { threadId: "t", id: uuid(1) });
    const holder = startProcess("hold", path, 2_000);
    await holder.said("held");
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const started = performance.now();
    expect((await home.thread("t"))?.checkpointCount).toBe(1);
    const read = performance.now() - started;
    await putStep(home, { threadId: "t", id: uuid(2) });
    delay.disable();
    expect(read).toBeLessThan(1_000);
    expect(performance.now() - started).toBeGreaterThan(1_000);
    expect(delay.max / 1e6).toBeLessThan(250);
    expect((await home.thread("t"))?.checkpointCount).toBe(2);
    await home.close();
  });

  it("R-07 a file that stays locked gives STORAGE_BUSY after the busy timeout", async () => {
    const path = scratchFile();
    const home = await openSqliteHome(path, { busyTimeout: 0.3 });
    await putStep(home, { threadId: "t", id: uuid(1) });
    await home.close();
    const holder = startProcess("lock", path, 60_000);
    await holder.said("locked");
    const error = await openSqliteHome(path, { busyTimeout: 0.3 }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "STORAGE_BUSY", hint: expect.stringContaining("busyTimeout") });
  });

  it("R-04 a copy of the file and its log taken in the middle of writing opens and reads", async () => {
    const path = scratchFile();
    const writer = startProcess("write", path, 100_000, "t");
    await writer.said("20\n");
    for (let copy = 0; copy < 5; copy++) {
      const target = scratchFile();
      writer.child.kill("SIGSTOP");
      for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, target + end);
      const acknowledged = writer.output().trim().split("\n").length;
      writer.child.kill("SIGCONT");
      const home = await openSqliteHome(target);
      expect((await home.thread("t"))?.checkpointCount).toBeGreaterThanOrEqual(acknowledged);
      expect((await readStep(home, "t", uuid(acknowledged)))?.content).toHaveLength(2);
      await home.close();
    }
    writer.child.kill("SIGKILL");
    await writer.ended;
  });

  it("everything acknowledged before a process was killed is there", async () => {
    const path = scratchFile();
    for (let round = 0; round < 3; round++) {
      const name = `round ${round}`;
      const writer = startProcess("write", path, 100_000, name);
      await writer.said(`${10 + round * 7}\n`);
      writer.child.kill("SIGKILL");
      await writer.ended;
      const acknowledged = writer.output().trim().split("\n").length;
      const home = await openSqliteHome(path);
      expect((await home.thread(name))?.checkpointCount).toBeGreaterThanOrEqual(acknowledged);
      expect((await readStep(home, name, uuid(acknowledged)))?.content).toHaveLength(2);
      await home.close();
    }
  });

  it("a large file is checked after an unclean end, not while others use it or after a clean one", async () => {
    const path = scratchFile();
    const writer = startProcess("write", path, 100_000, "t");
    await writer.said("5\n");
    expect(needsCheck(path, 0)).toBe(false);
    writer.child.kill("SIGKILL");
    await writer.ended;
    expect(needsCheck(path, 0)).toBe(true);
    const home = await openSqliteHome(path);
    await home.close();
    expect(needsCheck(path, 0)).toBe(false);
    expect(needsCheck(path)).toBe(true);
  });

  it("a process that forgets to close ends all the same, with everything stored", async () => {
    const path = scratchFile();
    const forgetful = startProcess("forget", path);
    const started = performance.now();
    await forgetful.ended;
    expect(forgetful.output()).toBe("stored\n");
    expect(performance.now() - started).toBeLessThan(10_000);
    const home = await openSqliteHome(path);
    expect((await home.thread("t"))?.checkpointCount).toBe(1);
    await home.close();
  });
});
