import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LoadedSettings } from "../settings/load-settings.ts";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";
import { installationOf } from "./installed.ts";
import { nodeCheck } from "./machine-checks.ts";
import { modelCheck } from "./model-checks.ts";

it("doctor looks at everything, and names a remedy for each problem", async () => {
  const directory = await directoryWith({
    ".deepwright/settings.json": JSON.stringify({ hooks: { "run-end": [{ command: "true" }] } }),
    ".mcp.json": JSON.stringify({ mcpServers: { one: { command: "true" } } }),
  });
  const env = { OPENAI_API_KEY: "sk-secret-0000", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
  const { code, stdout } = await runBinary(["doctor", "--json"], { cwd: directory, env });
  expect(code).toBe(1);
  expect(stdout).not.toContain("sk-secret-0000");
  const { checks } = JSON.parse(stdout) as {
    checks: { name: string; state: string; words: string; remedy?: string }[];
  };
  const state = (name: string) => checks.find((check) => check.name === name);
  expect(checks.map(({ name }) => name)).toEqual([
    ...["Node", "Terminal", "Settings", "Keys", "Model", "Local servers", "Sandbox", "Database", "Disk"],
    "MCP servers",
  ]);
  expect(state("Node")).toMatchObject({ state: "ok" });
  expect(state("Settings")).toMatchObject({ state: "note", remedy: "deepwright trust" });
  expect(state("Keys")).toMatchObject({ state: "ok", words: "OPENAI_API_KEY" });
  expect(state("Model")).toMatchObject({
    state: "problem",
    words: expect.stringContaining("does not answer"),
  });
  expect(state("Sandbox")).toMatchObject({ state: "ok" });
  expect(state("Database")?.words).toContain("made by the first run");
  expect(state("MCP servers")).toMatchObject({ state: "note", remedy: "deepwright mcp trust" });
  for (const check of checks) expect(check.state === "ok" || check.remedy !== undefined).toBe(true);
  await mkdir(homeOf(directory), { recursive: true });
  await writeFile(join(homeOf(directory), "settings.json"), '{"theme": 1}');
  await writeFile(join(homeOf(directory), "state.db"), "no database");
  const broken = await runBinary(["doctor"], { cwd: directory, env });
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain("✘ Settings: ");
  expect(broken.stdout).toContain("✘ Database: ");
  expect(broken.stdout).toContain("    → ");
});

it("doctor asks the server of the model, which has to list models, and this one", async () => {
  const server = await providerServer([], ["qwen3"]);
  onTestFinished(() => server.close());
  const page = createServer((_, response) => response.end("<html>"));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void page.close());
  const loaded = { settings: {}, origins: new Map() } as unknown as LoadedSettings;
  const check = (DEEPWRIGHT_MODEL: string, url: string) =>
    modelCheck(loaded, {
      DEEPWRIGHT_MODEL,
      LMSTUDIO_BASE_URL: url,
      GROQ_API_KEY: "k",
      DEEPWRIGHT_BASE_URL: url,
    });
  expect(await check("lmstudio:qwen3", server.url)).toMatchObject({ state: "ok" });
  expect(await check("groq:llama", server.url)).toMatchObject({ state: "note" });
  const address = `http://127.0.0.1:${(page.address() as AddressInfo).port}/v1`;
  expect(await check("lmstudio:qwen3", address)).toMatchObject({
    state: "problem",
    words: expect.stringContaining("not with a list of models"),
  });
  expect(await check("lmstudio:qwen3", "http://127.0.0.1:1/v1")).toMatchObject({ state: "problem" });
});

it("update tells how it was installed", async () => {
  const { stdout, code } = await runBinary(["update"], { cwd: await directoryWith({}) });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^deepwright \S+, installed by .+\nTo update: .+\n$/),
  ]);
});

it.each([
  ["/usr/lib/node_modules/@deepwright/cli/dist/main.js", "npm install --global @deepwright/cli@latest"],
  ["/home/a/.npm/_npx/1f/node_modules/@deepwright/cli/dist/main.js", "npx @deepwright/cli@latest"],
  [
    "/home/a/.bun/install/global/node_modules/@deepwright/cli/dist/main.js",
    "bun add --global @deepwright/cli@latest",
  ],
  [
    "/home/a/.local/share/pnpm/global/5/node_modules/@deepwright/cli/x.js",
    "pnpm add --global @deepwright/cli@latest",
  ],
  ["/home/a/.config/yarn/global/node_modules/@deepwright/cli/x.js", "yarn global add @deepwright/cli@latest"],
  [
    "C:\\Users\\a\\AppData\\Roaming\\npm\\node_modules\\@deepwright\\cli\\x.js",
    "npm install --global @deepwright/cli@latest",
  ],
  ["/srv/app/node_modules/@deepwright/cli/dist/main.js", "npm install @deepwright/cli@latest"],
])("%s is updated by %s", (path, command) => {
  expect(installationOf(path, false).command).toBe(command);
});

it("an old Node is a problem", () => {
  expect(nodeCheck("20.18.3")).toMatchObject({ state: "problem" });
  expect(nodeCheck("20.19.0")).toMatchObject({ state: "ok" });
});

it("completion scripts are read by their shells, and bash offers commands and options", async () => {
  const cwd = await directoryWith({});
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout, code } = await runBinary(["completion", shell], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("threads");
    const file = join(cwd, `completion.${shell}`);
    await writeFile(file, stdout);
    const checked = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    if (checked.error === undefined) expect([shell, checked.stderr]).toEqual([shell, ""]);
    if (shell !== "bash") continue;
    const offers = (...words: string[]): string => {
      const line = `COMP_WORDS=(deepwright ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _deepwright; echo "\${COMPREPLY[*]}"`;
      return spawnSync("bash", ["-c", `${stdout}\n${line}`], { encoding: "utf8" }).stdout.trim();
    };
    expect(offers("thr")).toBe("threads");
    expect(offers("--mod")).toBe("--model --mode");
    expect(offers("config", "s")).toBe("set schema");
    expect(offers("run", "--max-c")).toBe("--max-cost");
  }
});
