import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { isProcessGone, processName, startOf } from "./process-identity.ts";

/** The name of this process with another field. */
function nameWith(change: { pid?: number; start?: string; machine?: string }): string {
  const [host, pid, start, machine, random] = processName().split(":");
  return [host, change.pid ?? pid, change.start ?? start, change.machine ?? machine, random].join(":");
}

describe.runIf(process.platform === "linux")("a process", () => {
  test("that lives is not gone, and has many names", () => {
    expect(isProcessGone(processName())).toBe(false);
    expect(processName()).not.toBe(processName());
  });

  test("is gone from when it was killed", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 60_000)"]);
    await once(child, "spawn");
    const pid = child.pid as number;
    const name = nameWith({ pid, start: startOf(pid) });
    expect(isProcessGone(name)).toBe(false);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(isProcessGone(name)).toBe(true);
  });

  test("is gone when its pid is another's now", () => {
    expect(isProcessGone(nameWith({ start: "1" }))).toBe(true);
    expect(isProcessGone(nameWith({ pid: process.ppid, start: "1" }))).toBe(true);
  });

  test.each([
    ["of another machine", nameWith({ pid: 2 ** 22 + 1, machine: "0123456789abcdef" })],
    ["of an unknown machine", nameWith({ pid: 2 ** 22 + 1, machine: "" })],
    ["with a name of another kind", `host:${2 ** 22 + 1}:abc`],
    ["without a pid", "worker"],
  ])("%s cannot be judged", (_, name) => {
    expect(isProcessGone(name)).toBe(false);
  });
});
