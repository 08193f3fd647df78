/** Descriptors and variables of the harness process, which no command may get. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";

/** Node closes the first few by itself. */
const INHERITED = 42;

it("a directory that this process was started with is open to no command, and no mkfifo of the workspace is started", async () => {
  const outside = scratchDirectory();
  writeFileSync(join(outside, "secret"), "TOPSECRET");
  const rootDir = scratchDirectory();
  mkdirSync(join(rootDir, "bin"));
  writeFileSync(join(rootDir, "bin/mkfifo"), `#!/bin/sh\ntouch ${outside}/trap\n`, { mode: 0o755 });
  const script = join(scratchDirectory(), "host.mts");
  writeFileSync(
    script,
    `import { osSandbox } from ${JSON.stringify(join(import.meta.dirname, "../os.ts"))};
    for (const options of [{}, { rootDir: ${JSON.stringify(rootDir)} }]) {
      const opened = await osSandbox(options).open({ key: "k", env: {} });
      const command = "cat /proc/*/fd/${INHERITED}/secret; stat -Lc '%n %F' /proc/self/fd/${INHERITED}; cat <&0; echo ran";
      console.log((await opened.sandbox.execute(command)).output);
      await opened.destroy();
    }`,
  );
  const directory = openSync(outside, "r");
  const stdio = ["ignore", "pipe", "inherit", ...Array<"ignore">(INHERITED - 3).fill("ignore"), directory];
  const host = spawn(process.execPath, ["--import", "tsx", "--conditions=source", script], {
    stdio: stdio as ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: `${rootDir}/bin:${process.env.PATH}` },
  });
  closeSync(directory);
  const output = await text(host.stdout);
  expect(output.match(/^ran$/gm)).toHaveLength(2);
  expect(output).not.toContain("TOPSECRET");
  expect(output).not.toMatch(/fd\/\d+ directory/);
  expect(existsSync(join(outside, "trap"))).toBe(false);
});

it.runIf(process.getuid?.() === 0)(
  "what root's commands read from is no device of the machine, whose modes they could change",
  async () => {
    const opened = await openFor({ rootDir: scratchDirectory() });
    const { dev, ino } = statSync("/dev/null");
    const seen = await run(
      opened,
      "stat -Lc %d:%i /proc/self/fd/0 /proc/1/fd/0 /dev/null; head -c 1 | wc -c",
    );
    expect(seen).toMatch(/^(\d+:\d+\n){3}0\n$/);
    expect(seen).not.toContain(`${dev}:${ino}\n`);
    expect(readFileSync("/dev/null", "utf8")).toBe("");
  },
);
