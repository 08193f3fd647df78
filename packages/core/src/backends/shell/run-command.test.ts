import { describe, expect, it } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { type RunCommandOptions, runCommand } from "./run-command.ts";
import { scratchDirectory } from "./shell-for-tests.ts";

const run = (command: string, options: Partial<RunCommandOptions> = {}) =>
  runCommand(command, {
    cwd: scratchDirectory(),
    env: { PATH: process.env.PATH ?? "" },
    maxOutputBytes: 100_000,
    ...options,
  });

describe("runCommand", () => {
  it("gives a command files as its streams, which it may open by name", async () => {
    const { output } = await run(
      "echo one; echo two > /dev/stderr; echo three | tee /dev/stderr > /dev/null",
    );
    expect(output).toBe("one\ntwo\nthree\n");
  });

  it("keeps the order of both streams", async () => {
    const { output } = await run("for i in $(seq 200); do echo o$i; echo e$i >&2; done");
    const expected = Array.from({ length: 200 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join("");
    expect(output).toBe(expected);
  });

  it("takes what comes late from a process that is on its way out", async () => {
    // A process that is silent for half a second is not waited for, and a busy machine can be that slow.
    await until(async () => {
      const { output } = await run("(sleep 0.1; echo late) & echo early");
      expect(output).toMatch(/^early\n(late\n)?$/);
      return output === "early\nlate\n";
    });
  });

  it("does not wait for a command that has closed its output but runs on", async () => {
    expect(await run("exec >&- 2>&-; sleep 0.3; exit 4")).toEqual({
      output: "",
      truncated: false,
      exitCode: 4,
    });
  });

  it("takes a command that looks like an option of the shell for a command", async () => {
    expect((await run("-c")).exitCode).toBe(127);
    expect((await run("+x")).exitCode).toBe(127);
  });

  it("runs without named pipes too", async () => {
    const without = { openPipe: async () => undefined };
    const { output, exitCode } = await run("echo a; echo b >&2; exit 6", without);
    expect([output.split("\n").toSorted(), exitCode]).toEqual([["", "a", "b"], 6]);
    const flood = await run("yes | head -c 5000000", { ...without, maxOutputBytes: 100 });
    expect(flood).toMatchObject({ truncated: true, exitCode: 0 });
    const late = await run("sleep 600 & sleep 600", { ...without, timeoutSeconds: 0.3 });
    expect(late.exitCode).toBe(124);
  });

  it("takes another shell", async () => {
    expect((await run("echo $0", { shell: "/bin/sh" })).output).toBe("sh\n");
  });

  it("has no time limit that a timer cannot hold", async () => {
    expect((await run("sleep 0.1; echo done", { timeoutSeconds: 1e9 })).output).toBe("done\n");
  });

  it.each<[string, Partial<RunCommandOptions>, string]>([
    [
      "a missing directory",
      { cwd: "/no/such/place" },
      "The command was not run: the working directory is gone.",
    ],
    [
      "a missing shell",
      { shell: "/no/such/shell" },
      "The command was not run: the shell could not be started (ENOENT).",
    ],
  ])("tells of %s without a path of the host", async (_name, options, message) => {
    await expect(run("true", options)).rejects.toMatchObject({ code: "COMMAND_FAILED", message });
    expect((await run("echo next")).output).toBe("next\n");
  });

  it("does not start a command whose signal is aborted", async () => {
    const reason = new Error("never");
    await expect(run("true", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("hears an abort while it stops a command whose time was up", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = run("trap '' TERM; sleep 600; sleep 600", {
      timeoutSeconds: 0.2,
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(reason), 400);
    await expect(running).rejects.toBe(reason);
  });

  it("ends the commands of a command that runs commands itself", async () => {
    process.env.DEEPWRIGHT_CALL = "outer";
    try {
      expect((await run("echo $DEEPWRIGHT_CALL")).output).toMatch(/^outer\/[0-9a-f-]{36}\n$/);
    } finally {
      delete process.env.DEEPWRIGHT_CALL;
    }
  });
});
