import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openFor, run, scratchDirectory, waitUntil } from "./os-for-tests.ts";

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
  const opened = await openFor({ rootDir: scratchDirectory() });
  const running = run(opened, "touch started; while ! [ -e go ]; do sleep 0.05; done; echo went on");
  await waitUntil(() => starters(opened.id).length > 0, 5000);
  while (!(await opened.sandbox.read("/workspace/started")).mimeType)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const first = Math.min(...starters(opened.id));
  process.kill(first, "SIGKILL");
  expect(await waitUntil(() => !starters(opened.id).includes(first), 5000)).toBe(true);
  expect(await run(opened, "echo next")).toBe("next\n");
  await opened.sandbox.write("/workspace/go", "");
  expect(await running).toBe("went on\n");
  await opened.destroy();
  expect(starters(opened.id)).toEqual([]);
});

it("when all that start commands are killed, what they started has ended, and the next command runs", async () => {
  const opened = await openFor();
  const mark = `60${Math.random().toString().slice(2, 8)}`;
  const running = opened.sandbox.execute(`sleep ${mark}`, { timeout: 60 });
  const sleeping = (): boolean =>
    readdirSync("/proc").some((pid) => commandLine(Number(pid)) === `sleep\0${mark}\0`);
  await waitUntil(sleeping, 5000);
  for (const pid of starters(opened.id)) process.kill(pid, "SIGKILL");
  expect(await running).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  expect(await waitUntil(() => !sleeping(), 2000)).toBe(true);
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
