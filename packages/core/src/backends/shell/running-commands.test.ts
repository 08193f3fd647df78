import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { until } from "../../../../../scripts/test-time.ts";
import { scratchDirectory, shellIn, sleepers, sleepMark } from "./shell-for-tests.ts";

const PROGRAM = new URL("./fixtures/running-process.ts", import.meta.url);

/** A process of ours whose command runs; its temporary files are in a directory that can be looked at. */
async function start(mark: string, end: string): Promise<{ child: ChildProcess; temporary: string }> {
  const temporary = scratchDirectory();
  const command = `setsid sleep ${mark} & sleep ${mark}; true`;
  const child = spawn(process.execPath, [await testProgram(PROGRAM), command, end], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, TMPDIR: temporary },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    for (const pid of sleepers(mark)) process.kill(pid, "SIGKILL");
  });
  await until(() => sleepers(mark).length >= 2);
  return { child, temporary };
}

describe.runIf(process.platform === "linux")("a process that ends while its command runs", () => {
  it.each([
    ["exit", 3],
    ["throw", 7],
  ])("by %s takes the command along, and leaves no files", async (end) => {
    const mark = sleepMark();
    const { child, temporary } = await start(mark, end);
    child.stdin?.write("now\n");
    await once(child, "exit");
    await until(() => sleepers(mark).length === 0);
    expect(readdirSync(temporary).filter((name) => name.startsWith("deepwright-commands-"))).toEqual([]);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("by %s takes the command along", async (signal) => {
    const mark = sleepMark();
    const { child } = await start(mark, "");
    child.stdin?.write("now\n");
    await once(child.stdout as NodeJS.ReadableStream, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([null, signal]);
    await until(() => sleepers(mark).length === 0);
  });

  it("by nothing, because it listens to the signal itself: the command goes on", async () => {
    const mark = sleepMark();
    const { child } = await start(mark, "listen");
    child.stdin?.write("now\n");
    await once(child.stdout as NodeJS.ReadableStream, "data");
    child.kill("SIGTERM");
    const [heard] = await once(child.stdout as NodeJS.ReadableStream, "data");
    expect(String(heard)).toBe("heard\n");
    expect(sleepers(mark).length).toBeGreaterThanOrEqual(2);
  });
});

it("many commands leave no listeners, open files or timers behind", async () => {
  const backend = shellIn();
  const { signal } = new AbortController();
  const counts = () => ({
    exit: process.listenerCount("exit"),
    sigterm: process.listenerCount("SIGTERM"),
    sigint: process.listenerCount("SIGINT"),
  });
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  await Promise.all(Array.from({ length: 8 }, () => backend.execute("true", { signal })));
  const before = counts();
  const timersBefore = timers();
  const files = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 8 }, () => backend.execute("echo a", { signal })));
  expect(counts()).toEqual(before);
  // The test runner has timers of its own, which come and go.
  await until(() => timers() <= timersBefore + 1);
  const settled = () => process.platform !== "linux" || readdirSync("/proc/self/fd").length <= files + 2;
  await until(settled);
});
