import { spawnSync } from "node:child_process";
import { lutimesSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../../../../../../scripts/test-time.ts";
import { withPathLock } from "./path-locks.ts";

function locks(): string {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-locks-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The name a lock has, learned while it is held. */
async function lockFile(key: string, directory: string): Promise<{ path: string; holder: string }> {
  return withPathLock(key, { path: "/x", directory }, () => {
    const [name] = readdirSync(directory);
    const path = join(directory, String(name));
    return { path, holder: spawnSync("readlink", [path]).stdout.toString().trim() };
  });
}

it("work on one key is done one after another, in order, and work on others beside it", async () => {
  const directory = locks();
  const events: string[] = [];
  const work = (key: string, name: string) =>
    withPathLock(key, { path: "/x", directory }, async () => {
      events.push(`${name} begins`);
      if (name === "first") await until(() => events.includes("other begins"));
      await sleep(10);
      events.push(`${name} ends`);
    });
  await Promise.all([work("one", "first"), work("one", "second"), work("two", "other")]);
  expect(events.filter((event) => !event.startsWith("other"))).toEqual([
    "first begins",
    "first ends",
    "second begins",
    "second ends",
  ]);
  expect(events.indexOf("other begins")).toBeLessThan(events.indexOf("first ends"));
  expect(readdirSync(directory)).toEqual([]);
});

it("failed work lets the next one in", async () => {
  const options = { path: "/x", directory: locks() };
  const failing = withPathLock("key", options, () => Promise.reject(new Error("broken")));
  const next = withPathLock("key", options, () => "done");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
});

it("one who stops waiting is told so at once and does not let others in too early", async () => {
  const directory = locks();
  const controller = new AbortController();
  let busy = false;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const first = withPathLock("key", { path: "/x", directory }, async () => {
    busy = true;
    await finished;
    busy = false;
  });
  const second = withPathLock("key", { path: "/x", directory, signal: controller.signal }, () => "never");
  const third = withPathLock("key", { path: "/x", directory }, () => busy);
  await until(() => busy);
  controller.abort(new Error("stopped"));
  await expect(second).rejects.toThrow("stopped");
  await sleep(50);
  expect(busy).toBe(true);
  finish();
  expect(await third).toBe(false);
  await first;
});

it.skipIf(process.platform === "win32")("the lock of a process that died is taken over", async () => {
  const directory = locks();
  const { path, holder } = await lockFile("key", directory);
  const dead = String(spawnSync(process.execPath, ["-e", ""]).pid);
  symlinkSync(holder.replace(/^\d+/, dead), path);
  expect(await withPathLock("key", { path: "/x", directory }, () => "mine")).toBe("mine");
  expect(readdirSync(directory)).toEqual([]);
});

it.skipIf(process.platform !== "linux")(
  "a process number used again is not taken for the holder",
  async () => {
    const directory = locks();
    const { path, holder } = await lockFile("key", directory);
    const [pid, started, ...rest] = holder.split("-");
    symlinkSync([pid, `${started}1`, ...rest].join("-"), path);
    expect(await withPathLock("key", { path: "/x", directory }, () => "mine")).toBe("mine");
  },
);

it.skipIf(process.platform === "win32")("of many who find a dead lock each gets it alone", async () => {
  const directory = locks();
  const { path, holder } = await lockFile("key", directory);
  const dead = String(spawnSync(process.execPath, ["-e", ""]).pid);
  symlinkSync(holder.replace(/^\d+/, dead), path);
  let inside = 0;
  const most: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withPathLock("key", { path: "/x", directory }, async () => {
        inside += 1;
        most.push(inside);
        await sleep(1);
        inside -= 1;
      }),
    ),
  );
  expect(Math.max(...most)).toBe(1);
});

it.skipIf(process.platform === "win32")("a dead lock whose taker died too is taken over", async () => {
  const directory = locks();
  const { path, holder } = await lockFile("key", directory);
  const dead = holder.replace(/^\d+/, String(spawnSync(process.execPath, ["-e", ""]).pid));
  symlinkSync(dead, path);
  const { createHash } = await import("node:crypto");
  symlinkSync(dead, `${path}.${createHash("sha256").update(dead).digest("hex").slice(0, 8)}`);
  expect(await withPathLock("key", { path: "/x", directory }, () => "mine")).toBe("mine");
  expect(readdirSync(directory)).toEqual([]);
});

it.skipIf(process.platform !== "linux")("a holder in another container has half a minute", async () => {
  const directory = locks();
  const { path } = await lockFile("key", directory);
  symlinkSync("4711-1-99-abc", path);
  const signal = AbortSignal.timeout(200);
  await expect(withPathLock("key", { path: "/x", directory, signal }, () => "early")).rejects.toThrow();
  spawnSync("touch", ["-h", "-d", "2 minutes ago", path]);
  expect(await withPathLock("key", { path: "/x", directory }, () => "late")).toBe("late");
});

it.skipIf(process.platform === "win32")(
  "a directory of locks that was cleaned away is made again",
  async () => {
    const directory = locks();
    rmSync(directory, { recursive: true });
    expect(await withPathLock("key", { path: "/x", directory }, () => "mine")).toBe("mine");
  },
);

it("a lock of an unknown holder whose time is ahead, because the clock was set back, is taken over", async () => {
  const directory = locks();
  const { path } = await lockFile("key", directory);
  symlinkSync("1-1-elsewhere-abc", path);
  const tomorrow = Date.now() / 1000 + 86_400;
  lutimesSync(path, tomorrow, tomorrow);
  expect(await withPathLock("key", { path: "/x", directory }, () => "done")).toBe("done");
});
