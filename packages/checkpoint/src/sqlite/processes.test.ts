import { copyFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { withinLimit } from "../../../../scripts/test-time.ts";
import { waitUntilStopped } from "../chaos/stopped.ts";
import { claimThread } from "../saver/claim-thread.ts";
import { putStep, readStep, tree, uuid } from "../storage/content-for-tests.ts";
import { needsCheck } from "./database-file.ts";
import { startProcess } from "./processes-for-tests.ts";
import { scratchFile } from "./scratch-for-tests.ts";
import { openSqliteStorage } from "./sqlite-storage.ts";

const PATIENT = { busyTimeout: 600 };

/** Several turns, because a block may come between two of them. */
async function turnsOfEventLoop(): Promise<void> {
  for (let turn = 0; turn < 10; turn++)
    await withinLimit("the event loop turns while another process holds the SQLite file", () => sleep(10));
}

describe("a file and several processes", () => {
  it("several processes write to one file at once, and nothing is lost", async () => {
    const path = scratchFile();
    const names = ["one", "two", "three", "four"];
    await Promise.all(names.map((name) => startProcess("write", path, 40, name).ended));
    const storage = await openSqliteStorage(path);
    for (const name of names) {
      expect((await storage.thread(name))?.checkpointCount).toBe(40);
      const step = await readStep(storage, name, uuid(7));
      expect(step?.content).toEqual([tree(`${name} 7 `.padEnd(2_000, "x")), tree("common 7")]);
    }
    await storage.close();
  });

  it("a thread claimed by a process that was killed is free at once, and one of a process that lives is not", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    const holder = startProcess("claim", path, 0, "t");
    await holder.said("claimed");
    await expect(claimThread(storage, "t", { mode: "refuse" })).rejects.toMatchObject({
      code: "THREAD_BUSY",
    });
    holder.child.kill("SIGKILL");
    await holder.ended;
    const claim = await claimThread(storage, "t", { mode: "refuse" });
    await putStep(storage, { threadId: "t", id: uuid(1), fence: claim.fence });
    await claim.release();
    await storage.close();
  });

  it("R-07 a file another process holds stalls the event loop for 250 ms at most, then work goes on", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    await putStep(storage, { threadId: "t", id: uuid(1) });
    await storage.close();
    const holder = startProcess("lock", path);
    await holder.said("locked");
    let isOpen = false;
    const opening = openSqliteStorage(path, PATIENT).finally(() => {
      isOpen = true;
    });
    await turnsOfEventLoop();
    expect(isOpen).toBe(false);
    holder.child.kill("SIGTERM");
    const opened = await opening;
    await putStep(opened, { threadId: "t", id: uuid(2) });
    expect((await opened.thread("t"))?.checkpointCount).toBe(2);
    await opened.close();
  });

  it("R-07 a long transaction of another process delays writing only, and never the event loop", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path, PATIENT);
    await putStep(storage, { threadId: "t", id: uuid(1) });
    const holder = startProcess("hold", path);
    await holder.said("held");
    expect((await storage.thread("t"))?.checkpointCount).toBe(1);
    let isStored = false;
    const storing = putStep(storage, { threadId: "t", id: uuid(2) }).finally(() => {
      isStored = true;
    });
    await turnsOfEventLoop();
    expect(isStored).toBe(false);
    holder.child.kill("SIGTERM");
    await storing;
    expect((await storage.thread("t"))?.checkpointCount).toBe(2);
    await storage.close();
  });

  it("R-07 a file that stays locked gives STORAGE_BUSY after the busy timeout", async () => {
    const path = scratchFile();
    const storage = await openSqliteStorage(path);
    await putStep(storage, { threadId: "t", id: uuid(1) });
    await storage.close();
    const holder = startProcess("lock", path);
    await holder.said("locked");
    const error = await openSqliteStorage(path, { busyTimeout: 0.3 }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "STORAGE_BUSY", hint: expect.stringContaining("busyTimeout") });
  });

  it("R-04 a copy of the file and its log taken in the middle of writing opens and reads", async () => {
    const path = scratchFile();
    const writer = startProcess("write", path, 100_000, "t");
    await writer.said("20\n");
    for (let copy = 0; copy < 5; copy++) {
      const target = scratchFile();
      writer.child.kill("SIGSTOP");
      waitUntilStopped(writer.child.pid as number);
      for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, target + end);
      const acknowledged = writer.output().trim().split("\n").length;
      writer.child.kill("SIGCONT");
      const storage = await openSqliteStorage(target);
      expect((await storage.thread("t"))?.checkpointCount).toBeGreaterThanOrEqual(acknowledged);
      expect((await readStep(storage, "t", uuid(acknowledged)))?.content).toHaveLength(2);
      await storage.close();
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
      const storage = await openSqliteStorage(path);
      expect((await storage.thread(name))?.checkpointCount).toBeGreaterThanOrEqual(acknowledged);
      expect((await readStep(storage, name, uuid(acknowledged)))?.content).toHaveLength(2);
      await storage.close();
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
    const storage = await openSqliteStorage(path);
    await storage.close();
    expect(needsCheck(path, 0)).toBe(false);
    expect(needsCheck(path)).toBe(true);
  });

  it("a process that forgets to close ends all the same, with everything stored", async () => {
    const path = scratchFile();
    const forgetful = startProcess("forget", path);
    await forgetful.ended;
    expect(forgetful.output()).toBe("stored\n");
    const storage = await openSqliteStorage(path);
    expect((await storage.thread("t"))?.checkpointCount).toBe(1);
    await storage.close();
  });
});
