import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Commands } from "./commands.ts";
import { findProgram } from "./find-program.ts";
import { makeLeaseDirectory, removeLease } from "./lease/lease-directory.ts";
import { stateDirectory } from "./lease/state-directory.ts";
import { prepareLinuxSandbox } from "./linux/linux-sandbox.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";
import { osSettings } from "./os-options.ts";

const WORDS: readonly (readonly [string, number])[] = [
  ["commands: unknown option", 1],
  ["bwrap: execvp true: No such file or directory", 1],
  ["commands: 1: cannot open x", 2],
  ["sh: 1: ulimit: error setting limit", 126],
  ["bwrap: not found", 127],
];

describe("a command that was run", () => {
  it.each(WORDS)("is not told to have failed before, whatever it says: %s", async (words, code) => {
    const rootDir = scratchDirectory();
    for (const options of [{}, { rootDir }]) {
      const opened = await openFor(options);
      expect(await run(opened, `echo '${words}'; touch did-run; exit ${code}`)).toBe(
        `${words}\n[exit ${code}]`,
      );
      expect(await run(opened, "ls")).toBe("did-run\n");
    }
  });

  it("can neither see nor change what is said of it", async () => {
    const egress = { allow: ["example.com"] };
    for (const options of [{}, { rootDir: scratchDirectory() }, { egress }]) {
      const opened = await openFor(options);
      const files = await run(opened, "ls -l /proc/[0-9]*/fd 2>/dev/null; true");
      expect(files).toContain("null");
      expect(files).not.toMatch(/calls|report|deleted/);
    }
  });
});

describe("a command that was not run", () => {
  /** A `bwrap` that does something else first, once it is told to. */
  const broken = (words: string): { bubblewrap: string; breakIt: () => void } => {
    const directory = scratchDirectory();
    chmodSync(directory, 0o755);
    const bubblewrap = join(directory, "bwrap");
    const script = `#!/bin/sh\nif [ -e ${directory}/broken ]; then ${words}; fi\nexec ${findProgram("bwrap", []).path} "$@"\n`;
    writeFileSync(bubblewrap, script, { mode: 0o755 });
    return { bubblewrap, breakIt: () => writeFileSync(join(directory, "broken"), "") };
  };

  it("is told as such, whatever the program says that sets it up", async () => {
    const { bubblewrap, breakIt } = broken("echo no more; echo of this; exit 1");
    const opened = await openFor({ bubblewrap, rootDir: scratchDirectory() });
    expect(await run(opened, "echo a; exit 1")).toBe("a\n[exit 1]");
    breakIt();
    await expect(run(opened, "true")).rejects.toMatchObject({
      code: "COMMAND_FAILED",
      message: "The command was not run, the sandbox could not be set up: no more\nof this",
    });
  });

  it("is told as such where its limits cannot be set", async () => {
    const { bubblewrap, breakIt } = broken("ulimit -n 100");
    const opened = await openFor({ bubblewrap });
    expect(await run(opened, "ulimit -n")).toBe("4096\n");
    breakIt();
    await expect(run(opened, "touch did-run")).rejects.toThrow(/could not be set up: .*limit/);
    expect(await opened.sandbox.ls("/workspace")).toMatchObject({ files: [] });
  });
});

it("a command that no shell could start for us is told in the same way", async () => {
  const state = stateDirectory(scratchDirectory());
  const settings = osSettings({ rootDir: scratchDirectory() });
  const workspace = settings.rootDir ?? "";
  const lease = makeLeaseDirectory(state, { key: "k", ttl: 60 }, undefined);
  const held = prepareLinuxSandbox({
    settings,
    state,
    lease,
    workspace,
    owner: undefined,
    env: {},
    network: undefined,
  });
  const commands = new Commands({
    ...held.commandSettings,
    enter: (...given) => {
      const { begin, ...entry } = held.commandSettings.enter(...given);
      return entry;
    },
  });
  expect(await commands.execute("echo 'bwrap: x'; exit 1")).toMatchObject({
    output: "bwrap: x\n",
    exitCode: 1,
  });
  expect((await commands.execute("ls -l /proc/[0-9]*/fd 2>/dev/null; true")).output).not.toContain("deleted");
  expect(readdirSync(lease.path).filter((name) => name.startsWith("report"))).toEqual([]);
  await held.close();
  removeLease(state, lease.id);
});
