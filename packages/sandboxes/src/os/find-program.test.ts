import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findProgram } from "./find-program.ts";
import { scratchDirectory } from "./os-for-tests.ts";

const NAME = "deepwright-test-program";

function program(directory: string, mode = 0o755): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, NAME);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}

it("SB-09 a program is found by its real path, and never where the agent can write, by whatever names one gets there", () => {
  const [system, workspace, links] = [scratchDirectory(), scratchDirectory(), scratchDirectory()];
  const real = program(join(system, "real"));
  program(join(workspace, "bin"));
  symlinkSync(real, join(links, NAME));
  mkdirSync(join(links, "in"));
  symlinkSync(join(workspace, "bin", NAME), join(links, "in", NAME));
  symlinkSync(join(workspace, "bin"), join(links, "bin"));
  symlinkSync(workspace, join(links, "workspace"));
  symlinkSync(real, join(workspace, NAME));
  const find = (path: string, writable = workspace): unknown => findProgram(NAME, [writable], path);
  expect(find(join(system, "real"))).toEqual({ path: real });
  // A link to a program of the system.
  expect(find(links)).toEqual({ path: real });
  // In the workspace; a link into it; a directory that is such a link; a link in it that leads out.
  for (const path of [join(workspace, "bin"), join(links, "in"), join(links, "bin"), workspace])
    expect(find(path), path).toEqual({});
  // The workspace may be named by a link too.
  for (const path of [join(workspace, "bin"), join(links, "workspace/bin"), join(links, "in")])
    expect(find(path, join(links, "workspace")), path).toEqual({});
  expect(find(`${join(links, "in")}:${join(system, "real")}`)).toEqual({ path: real });
});

it("a directory beside the workspace is trusted, and nothing is where all is writable", () => {
  const workspace = scratchDirectory();
  const beside = `${workspace}-beside`;
  onTestFinished(() => rmSync(beside, { recursive: true }));
  const path = program(beside);
  expect(findProgram(NAME, [workspace], beside)).toEqual({ path });
  expect(findProgram(NAME, ["/"], beside)).toStrictEqual({});
  expect(findProgram(NAME, [], relative(process.cwd(), beside))).toStrictEqual({});
});

it("relative entries of PATH count for nothing, and what cannot be run is named", () => {
  const directory = scratchDirectory();
  const path = program(directory, 0o644);
  expect(findProgram(NAME, [], `.:bin::${directory}`)).toEqual({ unusable: path });
  mkdirSync(join(directory, "other", NAME), { recursive: true });
  expect(findProgram(NAME, [], join(directory, "other"))).toEqual({
    unusable: join(directory, "other", NAME),
  });
});
