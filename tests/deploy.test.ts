/** What is deployed: the image's recipe and the unit name files and options that there are. `npm run deploy:check` builds it. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandLine } from "../packages/cli/src/command-line.ts";

const dockerfile = readFileSync("Dockerfile", "utf8");
const unit = readFileSync("deploy/deepwright.service", "utf8");
const { workspaces } = JSON.parse(readFileSync("package.json", "utf8")) as { workspaces: string[] };

/** What the command line makes of the words; nothing is started. */
async function parsed(words: readonly string[]) {
  let seen: { file: string | undefined; options: object } | undefined;
  const never = () => expect.unreachable("another command than serve");
  const code = await commandLine(words, {
    run: never,
    threads: never,
    memory: never,
    mcp: never,
    trust: never,
    serve: async (file, options) => {
      seen = { file, options };
      return 0;
    },
  });
  expect(code, words.join(" ")).toBe(0);
  return seen;
}

function instruction(name: string): string[] {
  return [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, "gm"))].map(([, words]) => words as string);
}

test("every file the image is built from is there and is sent to the build", () => {
  const copied = instruction("COPY")
    .filter((words) => !words.startsWith("--from="))
    .flatMap((words) => words.split(" ").slice(0, -1));
  expect(copied.length).toBeGreaterThan(5);
  for (const path of copied) expect(existsSync(path), path).toBe(true);
  const sent = readFileSync(".dockerignore", "utf8").match(/^!(.+)$/gm) ?? [];
  for (const path of copied) expect(sent.map((line) => line.slice(1))).toContain(path.split("/")[0]);
});

test("every package of the repository is in the image", () => {
  for (const workspace of workspaces)
    expect(instruction("COPY")).toContain(`${workspace}/package.json ${workspace}/`);
});

test("the image starts the server with options that the command line knows, not as root", async () => {
  expect(instruction("USER").at(-1)).toBe("deepwright");
  expect(JSON.parse(instruction("ENTRYPOINT")[0] as string).at(-1)).toMatch(/packages\/cli\/dist\/main\.js$/);
  const { bin } = JSON.parse(readFileSync("packages/cli/package.json", "utf8")) as {
    bin: { deepwright: string };
  };
  expect(bin.deepwright).toMatch(/dist\/main\.js$/);
  expect(await parsed(JSON.parse(instruction("CMD")[0] as string))).toEqual({
    file: undefined,
    options: { host: "0.0.0.0", port: "2024", open: true, openHealth: true, mcp: true },
  });
});

test("the unit starts the server with options that the command line knows, and waits longer than it drains", async () => {
  const settings = Object.fromEntries(
    [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const [, start = ""] = /^ExecStart=\S+ (.+)$/m.exec(unit) ?? [];
  const words = start.replace(/\$\{(\w+)\}/g, (_, name: string) => settings[name] ?? "").split(" ");
  expect(await parsed(words)).toEqual({
    file: "deepwright.config.mjs",
    options: { host: "127.0.0.1", port: "2024", role: "both", open: true, openHealth: true, mcp: true },
  });
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(30);
});

test("systemd takes the unit and finds little to attack in it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "deepwright-unit-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "deepwright.service");
  // The program of a project that is not here.
  await writeFile(path, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const report = execFileSync("systemd-analyze", ["security", "--offline=true", path], { encoding: "utf8" });
  const [, exposure] = /exposure level for deepwright\.service: ([\d.]+)/.exec(report) ?? [];
  expect(Number(exposure)).toBeLessThan(2.5);
});
