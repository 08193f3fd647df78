import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { putStep, uuid } from "../storage/content-for-tests.ts";
import { openConnection } from "./connection.ts";
import { errorOf, failureOf } from "./messages.ts";
import { scratchDirectory, scratchFile } from "./scratch-for-tests.ts";
import { openSqliteStorage } from "./sqlite-storage.ts";
import { WorkerThread } from "./thread.ts";

describe("a connection", () => {
  it("is one for everything a process opens on a file, and ends with the last that closes", async () => {
    const path = scratchFile();
    const [one, two] = await Promise.all([openSqliteStorage(path), openSqliteStorage(path)]);
    symlinkSync(path, join(dirname(path), "link.db"));
    const three = await openSqliteStorage(join(dirname(path), "link.db"));
    await putStep(one, { threadId: "t", id: uuid(1) });
    const { bytesWritten } = await one.counts();
    expect(await two.counts()).toEqual({ bytesWritten });
    expect(await three.counts()).toEqual({ bytesWritten });
    await one.close();
    await one.close();
    await expect(one.counts()).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
    expect((await two.thread("t"))?.checkpointCount).toBe(1);
    await Promise.all([two.close(), three.close()]);
    const again = await openSqliteStorage(path);
    expect((await again.counts()).bytesWritten).toBe(0);
    expect((await again.thread("t"))?.checkpointCount).toBe(1);
    await again.close();
  });

  it("is one for a file in a directory that was made with it, behind a link", async () => {
    const directory = scratchDirectory();
    mkdirSync(join(directory, "real"));
    symlinkSync(join(directory, "real"), join(directory, "link"));
    const path = join(directory, "link", "new", "state.db");
    const one = await openSqliteStorage(path);
    await putStep(one, { threadId: "t", id: uuid(1) });
    const two = await openSqliteStorage(path);
    expect(await two.counts()).toEqual(await one.counts());
    await Promise.all([one.close(), two.close()]);
  });

  it("to memory is a database of its own", async () => {
    const [one, two] = await Promise.all([openSqliteStorage(":memory:"), openSqliteStorage(":memory:")]);
    await putStep(one, { threadId: "t", id: uuid(1) });
    expect(await two.thread("t")).toBeUndefined();
    await Promise.all([one.close(), two.close()]);
    const three = await openSqliteStorage(":memory:");
    expect(await three.thread("t")).toBeUndefined();
    await three.close();
  });

  it("carries typed errors, and calls before a close are answered", async () => {
    const storage = await openSqliteStorage(scratchFile());
    await expect(storage.copyThread("none", "b", 1)).rejects.toMatchObject({
      code: "THREAD_NOT_FOUND",
      message: 'There is no thread "none".',
    });
    await expect(storage.thread("a\0b")).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_ID|NOT_STORABLE/),
    });
    const putting = putStep(storage, { threadId: "t", id: uuid(1) });
    await storage.close();
    expect(await putting).toMatchObject({ stale: false });
  });

  it("knows no service nobody offers", async () => {
    const connection = await openConnection(scratchFile(), {});
    await expect(connection.call("nonsense", "run", [])).rejects.toThrow("nonsense");
    await connection.close();
  });
});

describe("the thread of a database", () => {
  it("that dies rejects what waits and what comes, in words", async () => {
    const thread = new WorkerThread();
    await thread.call("connection", "open", [":memory:", {}]);
    const waiting = thread.call("storage", "counts", []).catch((reason) => reason);
    await thread.end();
    const error = await waiting;
    if (error instanceof Error) expect(error).toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(thread.alive).toBe(false);
    await expect(thread.call("storage", "counts", [])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  });

  it("sends errors that arrive as they were thrown", () => {
    const cause = Object.assign(new Error("disk"), { errcode: 10 });
    const sent = failureOf(new Error("plain", { cause }));
    const arrived = errorOf(structuredClone(sent));
    expect(arrived).toMatchObject({ message: "plain", cause: { message: "disk" } });
    expect(arrived.stack).toContain("connection.test.ts");
  });
});
