/** The test that a sandbox makes of itself before its first command: each answer counts. */
import { chmodSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SandboxError } from "deepwright";
import { expect, it } from "vitest";
import { osSandbox } from "../os.ts";
import { findProgram } from "./find-program.ts";
import { openFor, scratchDirectory } from "./os-for-tests.ts";
import { judgeSelfTest, selfTestCommand, setUpFailure, unavailable } from "./self-test.ts";

/** A `bwrap` that leaves out an option, with as many words after it. */
function without(option: string, words: number): string {
  const directory = scratchDirectory();
  chmodSync(directory, 0o755);
  const path = join(directory, "bwrap");
  const script = `#!/bin/sh
left=0
for word; do
  shift
  if [ "$word" = ${option} ]; then left=${words + 1}; fi
  if [ "$left" -gt 0 ]; then left=$((left - 1)); else set -- "$@" "$word"; fi
done
exec ${findProgram("bwrap", []).path} "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

it.each([
  ["network", "--unshare-net", 0, "net"],
  ["filter of system calls", "--seccomp", 1, "Seccomp"],
  ["namespace for processes", "--unshare-pid", 0, "pid"],
])(
  "SB-08 a sandbox without its own %s is refused, on whatever directory",
  async (_, option, words, answer) => {
    for (const more of [{}, { rootDir: scratchDirectory() }]) {
      const provider = osSandbox({
        bubblewrap: without(option, words),
        stateDir: scratchDirectory(),
        ...more,
      });
      const opening = provider.open({ key: "k", env: {} });
      await expect(opening).rejects.toMatchObject({
        code: "SANDBOX_UNAVAILABLE",
        message: expect.stringContaining(`its self-test failed at ${answer} (`),
      });
    }
  },
);

it("a bwrap that was replaced after a test is tested again by the next lease", async () => {
  const program = join(scratchDirectory(), "bwrap");
  const directory = scratchDirectory();
  const put = (source: string): void => {
    rmSync(program, { force: true });
    copyFileSync(source, program);
    chmodSync(program, 0o755);
  };
  chmodSync(dirname(program), 0o755);
  put(findProgram("bwrap", []).path as string);
  const provider = osSandbox({ bubblewrap: program, rootDir: directory, stateDir: scratchDirectory() });
  await (await provider.open({ key: "before", env: {} })).destroy();
  put(without("--unshare-net", 0));
  await expect(provider.open({ key: "after", env: {} })).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining("its self-test failed at net ("),
  });
});

it("a processor without a filter of system calls is refused, unless the caller accepts that", async () => {
  const arch = Object.getOwnPropertyDescriptor(process, "arch") as PropertyDescriptor;
  Object.defineProperty(process, "arch", { ...arch, value: "riscv64" });
  try {
    const stateDir = scratchDirectory();
    await expect(osSandbox({ stateDir }).open({ key: "k", env: {} })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/'riscv64'.*set seccomp: "optional"/),
    });
    const opened = await osSandbox({ stateDir, seccomp: "optional" }).open({ key: "k", env: {} });
    const { output } = await opened.sandbox.execute("grep ^Seccomp: /proc/self/status");
    expect(output).toMatch(/^Seccomp:\s+0/);
    await opened.destroy();
  } finally {
    Object.defineProperty(process, "arch", arch);
  }
  expect(() => osSandbox({ seccomp: "off" as never })).toThrow(/seccomp must be/);
});

it("each answer of the test counts, and a missing one too", async () => {
  const opened = await openFor();
  const { output, ...rest } = await opened.sandbox.execute(selfTestCommand());
  const judge = (text: string): void => judgeSelfTest({ ...rest, output: text }, true);
  judge(output);
  const bad: Readonly<Record<string, string>> = {
    Uid: "Uid:\t0\t0\t0\t0",
    CapEff: "CapEff:\t0000000000000001",
    CapPrm: "CapPrm:\t0000000000000001",
    CapBnd: "CapBnd:\t000001ffffffffff",
    NoNewPrivs: "NoNewPrivs:\t0",
    Seccomp: "Seccomp:\t0",
    home: "home=seen",
    system: "system=written",
    root: "root=written",
    kernel: "kernel=written",
    devices: "devices=",
    interfaces: "interfaces=2",
  };
  for (const [name, line] of Object.entries(bad)) {
    const own = new RegExp(`^${name}[=:].*$`, "m");
    expect(output, name).toMatch(own);
    for (const wrong of [line, ""])
      expect(() => judge(output.replace(own, wrong)), `${name}: ${wrong}`).toThrow(`failed at ${name} (`);
  }
  expect(() => judge(output.replace(/^mark=.*$/m, ""))).toThrow(/cannot be used here/);
  // Where the architecture has no filter, none is expected.
  judgeSelfTest({ ...rest, output: output.replace(/^Seccomp:.*$/m, "Seccomp:\t0") }, false);
});

it("a sandbox that cannot be used says what can be done about the reason", () => {
  const [second, namespaces, check] = [
    "a second user namespace",
    "Allow user namespaces",
    "Check that bubblewrap",
  ];
  const parts = ({ message }: Error) => [second, namespaces, check].filter((part) => message.includes(part));
  expect(parts(unavailable("setting up uid map: Permission denied"))).toEqual([namespaces]);
  expect(parts(unavailable("no such program"))).toEqual([check]);
  expect(parts(unavailable("no such program", true))).toEqual([second, check]);
  const failed = new SandboxError("The sandbox could not be set up: CLONE_NEWUSER failed", "SANDBOX_LOST");
  expect(parts(setUpFailure(failed, false))).toEqual([namespaces]);
  const other = new SandboxError("The sandbox is gone", "SANDBOX_LOST");
  expect(setUpFailure(other, true)).toBe(other);
});
