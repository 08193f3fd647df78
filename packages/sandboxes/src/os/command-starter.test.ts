import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { openFor, run, scratchDirectory, waitingCommand } from "./os-for-tests.ts";

/** The shells that start the commands of a sandbox, and the processes that they keep ready. */
function starters(id: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => commandLine(pid).includes(`/leases/${id}/calls`));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

it("when the shell that starts commands is killed, those that run go on, and the next one gets another", async () => {
  const rootDir = scratchDirectory();
  const opened = await openFor({ rootDir });
  const { command, begun, goOn } = waitingCommand(rootDir);
  const running = run(opened, `${command}; echo went on`);
  await begun();
  const first = Math.min(...starters(opened.id));
  process.kill(first, "SIGKILL");
  await until(() => !starters(opened.id).includes(first));
  expect(await run(opened, "echo next")).toBe("next\n");
  goOn();
  expect(await running).toBe("went on\n");
  await opened.destroy();
  await until(() => starters(opened.id).length === 0);
});

it("a command that begins before the death of its shell is noticed is started by another shell", async () => {
  const opened = await openFor();
  for (let round = 0; round < 5; round += 1) {
    expect(await run(opened, `echo ${round}`)).toBe(`${round}\n`);
    for (const pid of starters(opened.id)) process.kill(pid, "SIGKILL");
    expect(await run(opened, "echo next")).toBe("next\n");
  }
});

it("when all that start commands are killed, what they started has ended, and the next command runs", async () => {
  const opened = await openFor();
  const mark = `60${Math.random().toString().slice(2, 8)}`;
  const running = opened.sandbox.execute(`sleep ${mark}`, { timeout: 600 });
  const sleeping = (): boolean =>
    readdirSync("/proc").some((pid) => commandLine(Number(pid)) === `sleep\0${mark}\0`);
  await until(sleeping);
  for (const pid of starters(opened.id)) process.kill(pid, "SIGKILL");
  expect(await running).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  await until(() => !sleeping());
  expect(await run(opened, "echo next")).toBe("next\n");
});

it("many at once are started one after the other, and none is lost, stopped or not", async () => {
  const opened = await openFor();
  const all = Array.from({ length: 24 }, async (_, index) => {
    const signal = index % 4 === 0 ? AbortSignal.timeout(index * 3) : undefined;
    try {
      return (await opened.sandbox.execute(`echo ${index}; exit ${index}`, { signal })).exitCode;
    } catch (error) {
      return (error as Error).name === "TimeoutError" ? index : error;
    }
  });
  expect(await Promise.all(all)).toEqual(Array.from({ length: 24 }, (_, index) => index));
});
