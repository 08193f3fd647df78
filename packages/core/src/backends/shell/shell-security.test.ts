/** The shell cases of the security catalogue, each by its id, on real processes. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ExecuteOptions, ExecuteResponse } from "../backend.ts";
import { LocalShellBackend } from "./local-shell.ts";
import { scratchDirectory, shellIn, sleepers, sleepMark, until } from "./shell-for-tests.ts";

interface Timed extends ExecuteResponse {
  /** Seconds. */
  readonly took: number;
}

async function timed(command: string, options?: ExecuteOptions, backend = shellIn()): Promise<Timed> {
  const start = performance.now();
  const response = await backend.execute(command, options);
  return { ...response, took: (performance.now() - start) / 1000 };
}

/** Nothing with the mark is alive two seconds from now. */
async function expectGone(mark: string): Promise<void> {
  expect(await until(() => sleepers(mark).length === 0, 2000)).toBe(true);
}

/** Milliseconds. Where the machine gives us no time we do not work, and the event loop waits for others. */
function stallClock(): { readonly wall: number; readonly working: number } {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), working: (user + system) / 1000 };
}

/** Seconds to allow beside a limit: ten times what a command that does nothing takes on this machine now. */
async function slack(): Promise<number> {
  return 10 * (await timed("true")).took;
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
  const { exitCode, took, output } = await timed(`echo begun; ${command(mark)}`, { timeout: 1 });
  expect(exitCode).toBe(124);
  expect(output).toBe("begun\n");
  expect(took).toBeGreaterThan(0.9);
  expect(took).toBeLessThan(3 + (await slack()));
  await expectGone(mark);
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
  const { exitCode, output, took } = await timed(command(mark));
  expect([exitCode, output]).toEqual([0, "started\n"]);
  expect(took).toBeLessThan(2 + (await slack()));
  await expectGone(mark);
});

test("SH-05 a gigabyte of output costs little memory and does not hold up the event loop", async () => {
  const backend = shellIn();
  await backend.execute("yes | head -c 10000000");
  const before = process.memoryUsage.rss();
  let peak = 0;
  let longest = 0;
  let last = stallClock();
  const timer = setInterval(() => {
    const now = stallClock();
    longest = Math.max(longest, Math.min(now.wall - last.wall, now.working - last.working));
    last = now;
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  }, 10);
  const response = await backend.execute("head -c 1000000000 /dev/zero | tr '\\0' a");
  clearInterval(timer);
  expect(response).toMatchObject({ exitCode: 0, truncated: true });
  expect(response.output).toMatch(/^a{50000}\n\[… 999900000 bytes left out …\]\na{50000}$/);
  expect(peak / 2 ** 20).toBeLessThanOrEqual(64);
  expect(longest).toBeLessThanOrEqual(250);
}, 120_000);

test("SH-06 a character written one byte at a time is whole", async () => {
  const { output } = await timed('for b in 342 202 254; do printf "\\\\$b"; sleep 0.1; done');
  expect(output).toBe("€");
});

test("SH-07 bytes that are no text are marked, and the answer is valid JSON", async () => {
  const { output, exitCode } = await timed("printf '\\377\\376\\000bin'");
  expect([output, exitCode]).toEqual(["\ufffd\ufffd\0bin", 0]);
  expect(JSON.parse(JSON.stringify(output))).toBe(output);
});

test("SH-08 a command that was ended by a signal is told from a time-out", async () => {
  expect(await timed("kill -TERM $$")).toMatchObject({ exitCode: 143, signal: "SIGTERM" });
  expect(await timed("kill -KILL $$")).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  const own = await shellIn().execute("exit 124");
  expect(own).toEqual({ output: "", exitCode: 124, truncated: false });
});

test.each(["cat", "read x || true", "sh", "node -"])("SH-09 `%s` finds no input", async (command) => {
  const { exitCode, took } = await timed(command, { timeout: 20 });
  expect(exitCode).toBe(0);
  expect(took).toBeLessThan((command === "node -" ? 4 : 1) + (await slack()));
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
  ["SH-12 without content", ""],
  ["SH-12 of blanks", " \n\t "],
  ["with half a character", "echo \ud800"],
])("a command %s is a typed error", async (_name, command) => {
  await expect(shellIn().execute(command)).rejects.toMatchObject({
    name: "SandboxError",
    code: "INVALID_COMMAND",
  });
});

test("SH-13 an abort ends everything at once and is thrown with its reason", async () => {
  const allowed = await slack();
  const mark = sleepMark();
  const controller = new AbortController();
  const reason = new Error("enough");
  const command = `trap '' TERM; setsid sleep ${mark} & sleep ${mark} & sleep ${mark}; sleep ${mark}`;
  const running = shellIn().execute(command, { signal: controller.signal });
  expect(await until(() => sleepers(mark).length >= 3 || process.platform !== "linux")).toBe(true);
  const start = performance.now();
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect((performance.now() - start) / 1000).toBeLessThan(1 + allowed);
  await expectGone(mark);
});
