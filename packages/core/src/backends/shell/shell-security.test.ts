/** The shell cases of the security catalogue, each by its id, on real processes. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until, withinLimit } from "../../../../../scripts/test-time.ts";
import type { ExecuteOptions, ExecuteResponse } from "../backend.ts";
import { watchStalls } from "../stalls-for-tests.ts";
import { LocalShellBackend } from "./local-shell.ts";
import { scratchDirectory, shellIn, sleepers, sleepMark } from "./shell-for-tests.ts";

function run(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
  return shellIn().execute(command, options);
}

/** The processes with the mark would run for ten minutes. */
async function untilGone(mark: string): Promise<void> {
  await until(() => sleepers(mark).length === 0);
}

afterEach(() => {
  delete process.env.FAKE_API_KEY;
});

test("SH-01 a command does not see the keys of this process, unless everything is inherited", async () => {
  process.env.FAKE_API_KEY = "sk-not-for-you";
  const { output } = await shellIn().execute("env; cat /proc/$$/environ");
  expect(output).not.toContain("FAKE_API_KEY");
  expect(output).not.toContain("sk-not-for-you");
  expect(output).toContain("PATH=");
  const inherited = await shellIn({ inheritEnv: true }).execute("env");
  expect(inherited.output).toContain("FAKE_API_KEY=sk-not-for-you");
});

test.each([
  ["SH-02 a child in the background", (mark: string) => `sleep ${mark} & sleep ${mark}`],
  ["SH-03 a command that ignores TERM", (mark: string) => `trap '' TERM; sleep ${mark}; sleep ${mark}`],
  ["SH-03 children that ignore TERM", (mark: string) => `(trap '' TERM; sleep ${mark}) & sleep ${mark}`],
  ["a child in a session of its own", (mark: string) => `setsid sleep ${mark} & sleep ${mark}`],
  [
    "a child in a session of its own without our mark",
    (mark: string) => `env -i $(command -v setsid) sleep ${mark} & sleep ${mark}`,
  ],
])("%s does not outlive the time-out", async (_name, command) => {
  const mark = sleepMark();
  // On a busy machine the time can be up before the command has begun.
  await until(async () => {
    const start = performance.now();
    const { exitCode, output } = await withinLimit("a command whose time-out is 1 s", () =>
      run(`echo begun; ${command(mark)}`, { timeout: 1 }),
    );
    expect(exitCode).toBe(124);
    expect(performance.now() - start).toBeGreaterThan(900);
    return output === "begun\n";
  });
  await untilGone(mark);
});

test.each([
  ["SH-04 with nohup", (mark: string) => `nohup sleep ${mark} >/dev/null 2>&1 & echo started`],
  ["SH-04 with the output open", (mark: string) => `sleep ${mark} & echo started`],
  ["in a session of its own", (mark: string) => `setsid sleep ${mark} >/dev/null 2>&1 & echo started`],
  [
    "as a grandchild",
    (mark: string) => `(setsid sh -c 'sleep ${mark}; true' >/dev/null 2>&1 &) ; echo started`,
  ],
])("a process in the background, %s, ends with the call", async (_name, command) => {
  const mark = sleepMark();
  const { exitCode, output } = await run(command(mark));
  expect([exitCode, output]).toEqual([0, "started\n"]);
  await untilGone(mark);
});

test("SH-05 a gigabyte of output costs little memory and does not hold up the event loop", async () => {
  const backend = shellIn();
  await backend.execute("yes | head -c 10000000");
  const before = process.memoryUsage.rss();
  let peak = 0;
  const stalls = watchStalls(() => {
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  });
  const response = await backend.execute("head -c 1000000000 /dev/zero | tr '\\0' a");
  stalls.stop();
  expect(response).toMatchObject({ exitCode: 0, truncated: true });
  expect(response.output).toMatch(/^a{50000}\n\[… 999900000 bytes left out …\]\na{50000}$/);
  expect(peak / 2 ** 20).toBeLessThanOrEqual(64);
  expect(stalls.longest()).toBeLessThanOrEqual(250);
});

test("SH-06 a character written one byte at a time is whole", async () => {
  const { output } = await run('for b in 342 202 254; do printf "\\\\$b"; sleep 0.1; done');
  expect(output).toBe("€");
});

test("SH-07 bytes that are no text are marked, and the answer is valid JSON", async () => {
  const { output, exitCode } = await run("printf '\\377\\376\\000bin'");
  expect([output, exitCode]).toEqual(["\ufffd\ufffd\0bin", 0]);
  expect(JSON.parse(JSON.stringify(output))).toBe(output);
});

test("SH-08 a command that was ended by a signal is told from a time-out", async () => {
  expect(await run("kill -TERM $$")).toMatchObject({ exitCode: 143, signal: "SIGTERM" });
  expect(await run("kill -KILL $$")).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  const own = await shellIn().execute("exit 124");
  expect(own).toEqual({ output: "", exitCode: 124, truncated: false });
});

test.each(["cat", "read x || true", "sh", "node -"])("SH-09 `%s` finds no input", async (command) => {
  expect((await run(command, { timeout: 300 })).exitCode).toBe(0);
});

test("SH-10 a cap of 10 bytes breaks no character", async () => {
  const backend = shellIn({ maxOutputBytes: 10 });
  for (const text of ["😀".repeat(10), `a${"😀".repeat(10)}`, "é€😀".repeat(5), "aé€😀".repeat(5)]) {
    const { output, truncated } = await backend.execute(`printf '%s' '${text}'`);
    expect(truncated).toBe(true);
    expect(output).not.toContain("\ufffd");
    expect(output.isWellFormed()).toBe(true);
    const [head, tail] = output.split(/\n\[… \d+ bytes left out …\]\n/) as [string, string];
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
    expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(10);
  }
});

test("SH-11 every command starts in the root, which is called what it was called", async () => {
  const directory = scratchDirectory();
  mkdirSync(join(directory, "real"));
  symlinkSync("real", join(directory, "link"));
  for (const name of ["real", "link"]) {
    const backend = new LocalShellBackend({ rootDir: join(directory, name) });
    const expected = `${join(directory, name)}\n/\n`;
    expect((await backend.execute("pwd; cd /; pwd")).output).toBe(expected);
    expect((await backend.execute("pwd; cd /; pwd")).output).toBe(expected);
    await backend.execute(`echo here > ${name}.txt`);
    expect(await backend.read(`${join(directory, name)}/${name}.txt`)).toMatchObject({ content: "here\n" });
  }
});

test.each([
  ["SH-12 with NUL", "echo a\0b"],
  ["SH-12 of 3 MB", `echo ${"x".repeat(3_000_000)}`],
  ["with half a character", "echo \ud800"],
])("a command %s is a typed error", async (_name, command) => {
  await expect(shellIn().execute(command)).rejects.toMatchObject({
    name: "SandboxError",
    code: "INVALID_COMMAND",
  });
});

test.each(["", " \n\t "])(
  "SH-12 the empty command %j fails with exit code 1 and runs nothing",
  async (command) => {
    const response = { output: "The command is empty.", exitCode: 1, truncated: false };
    expect(await shellIn().execute(command)).toEqual(response);
  },
);

test("SH-13 an abort ends everything at once and is thrown with its reason", async () => {
  const mark = sleepMark();
  const controller = new AbortController();
  const reason = new Error("enough");
  const command = `trap '' TERM; setsid sleep ${mark} & sleep ${mark} & sleep ${mark}; sleep ${mark}`;
  const running = shellIn().execute(command, { signal: controller.signal });
  await until(() => sleepers(mark).length >= 3 || process.platform !== "linux");
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  await untilGone(mark);
});
