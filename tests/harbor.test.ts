import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { MAIN } from "../packages/cli/src/test-support/run-binary.ts";

const run = promisify(execFile);
const folder = resolve(import.meta.dirname, "../integrations/harbor");

test("the Harbor adapter compiles, runs a task in a fake environment and brings its thread back", async () => {
  const bin = await mkdtemp(join(tmpdir(), "deepwright-harbor-"));
  onTestFinished(() => rm(bin, { recursive: true, force: true }));
  await writeFile(join(bin, "deepwright"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(join(bin, "deepwright"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, PYTHONPYCACHEPREFIX: join(bin, "cache") };
  await run("python3", ["-m", "py_compile", "deepwright_agent.py"], { cwd: folder, env });
  const { stderr } = await run("python3", ["-m", "unittest", "test_deepwright_agent"], { cwd: folder, env });
  expect(stderr).toContain("Ran 4 tests");
  expect(stderr).toMatch(/OK\s*$/);
});
