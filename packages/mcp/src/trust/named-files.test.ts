/** Trust in a server covers the files of the project that its definition names. */
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { linesOf, opened, projectWith, scratch, toolsProgram } from "../mcp-for-tests.ts";
import type { TrustRequest } from "../mcp-types.ts";
import { namedFiles } from "./named-files.ts";

const [PROGRAM = ""] = toolsProgram().args ?? [];

/** A project whose `.mcp.json` runs `tools.mjs` of its own, which writes a line to `log` for each start. */
async function projectWithScript(): Promise<{ project: string; home: string; log: string; script: string }> {
  const [home, log] = [await scratch(), join(await scratch(), "log")];
  const project = await projectWith({
    tools: { command: process.execPath, args: ["./tools.mjs", log], timeout: 600_000 },
  });
  const script = join(project, "tools.mjs");
  await writeFile(script, `await import(${JSON.stringify(PROGRAM)});\n`);
  return { project, home, log, script };
}

test("a script that changed since its server was agreed to is not run, and the question says what changed", async () => {
  const { project, home, log, script } = await projectWithScript();
  const first = await opened({ project, home, trust: () => true });
  expect(first.mcp.servers[0]?.state).toBe("ready");
  expect(first.mcp.controlPaths).toEqual(["tools.mjs"]);
  expect((await opened({ project, home })).codes()).toEqual([]);

  const before = await readFile(script, "utf8");
  await appendFile(script, `(await import("node:fs")).appendFileSync(${JSON.stringify(log)}, "evil\\n");\n`);
  const changed = await opened({ project, home });
  expect(changed.mcp.servers).toMatchObject([{ name: "tools", state: "untrusted" }]);
  expect(changed.notices[0]?.message).toContain("'tools.mjs' changed since it was agreed to");
  expect(changed.mcp.controlPaths).toEqual(["tools.mjs"]);
  expect(await linesOf(log)).not.toContain("evil");

  const asked: TrustRequest[] = [];
  const trust = (request: TrustRequest): boolean => asked.push(request) < 0;
  await opened({ project, home, trust });
  await writeFile(script, before);
  await rm(join(home, "mcp-trust.json"));
  await opened({ project, home, trust });
  expect(asked[0]?.changed).toEqual([{ path: "tools.mjs", change: "changed" }]);
  expect(asked[1]).toMatchObject({ changed: [], files: [{ path: "tools.mjs", bytes: before.length }] });
  expect(asked[0]?.hash).not.toBe(asked[1]?.hash);
});

test("a script that changes while its server runs is not started again", async () => {
  const { project, home, log, script } = await projectWithScript();
  const { mcp } = await opened({ project, home, trust: () => true });
  await writeFile(script, `(await import("node:fs")).appendFileSync(${JSON.stringify(log)}, "evil\\n");\n`);
  const die = mcp.tools.find(({ name }) => name === "mcp__tools__die");
  await die?.invoke({}).catch(() => {});
  await eventually(() => expect(mcp.servers[0]?.problem).toContain("'tools.mjs' changed"));
  expect(await linesOf(log)).not.toContain("evil");
});

test("an agreement of an earlier version, without files, is asked about again", async () => {
  const { project, home } = await projectWithScript();
  await opened({ project, home, trust: () => true });
  const path = join(home, "mcp-trust.json");
  await writeFile(path, (await readFile(path, "utf8")).replace(/,\s*"files": \[[^\]]*\]/, ""));
  expect((await opened({ project, home })).codes()).toEqual(["UNTRUSTED"]);
});

test("files are found in programs, arguments and variables, by links, in directories and without an ending", async () => {
  const project = await scratch();
  await mkdir(join(project, "server/lib"), { recursive: true });
  const names = ["run.sh", "a.js", "server/main.py", "server/index.js", "hook.js", "real.js", "data.db"];
  for (const name of names) await writeFile(join(project, name), name);
  await symlink("real.js", join(project, "link.js"));
  const found = async (definition: object): Promise<string[]> => {
    const files = await namedFiles({ definition: definition as never, directory: project }, project);
    return files.map(({ path, real }) => (real === undefined ? path : `${path} -> ${real}`));
  };
  expect(await found({ command: "./run.sh" })).toEqual(["run.sh"]);
  expect(await found({ command: join(project, "run.sh") })).toEqual(["run.sh"]);
  expect(await found({ command: "run.sh" })).toEqual([]);
  expect(await found({ command: "node", args: ["a"] })).toEqual(["a.js"]);
  expect(await found({ command: "node", args: ["--require=./hook.js", "a.js"] })).toEqual([
    "a.js",
    "hook.js",
  ]);
  expect(await found({ command: "sh", args: ["-c", "cd . && node './a.js'"] })).toEqual(["a.js"]);
  expect(await found({ command: "node", args: [`$${"{PWD}"}/a.js`] })).toEqual(["a.js"]);
  expect(await found({ command: "node", args: [join(project, "a.js")] })).toEqual(["a.js"]);
  expect(await found({ command: "node", args: ["./server"] })).toEqual(["server/index.js"]);
  expect(await found({ command: "uv", args: ["--directory", "server", "run", "main.py"] })).toEqual([
    "server/main.py",
  ]);
  expect(await found({ command: "node", args: ["main.py"], cwd: "server" })).toEqual(["server/main.py"]);
  expect(await found({ command: "node", args: ["link.js"] })).toEqual(["link.js -> real.js"]);
  expect(await found({ command: "x", env: { NODE_OPTIONS: "--import ./hook.js" } })).toEqual(["hook.js"]);
  expect(await found({ command: "x", args: [".", "server"] })).toEqual([]);
  const withData = { command: "x", args: ["a.js", "--db", "./data.db"], dataFiles: ["data.db"] };
  expect(await found(withData)).toEqual(["a.js"]);
  expect(await found({ url: "https://example.com/a.js" })).toEqual([]);
  const many = Array.from({ length: 300 }, (_, i) => `w${i}`);
  await expect(found({ command: "x", args: many })).rejects.toThrow("300 words");
});
