import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { directoryWith, homeOf } from "../test-support/run-binary.ts";
import { type LoadedSettings, loadSettings } from "./load-settings.ts";
import { writeSetting } from "./write-setting.ts";

const HOOKS = { hooks: { "run-start": [{ command: "true" }] } };

async function projectWith(files: Record<string, unknown>): Promise<string> {
  const texts = Object.entries(files).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return directoryWith(Object.fromEntries(texts));
}

function load(directory: string, env: Record<string, string> = {}): Promise<LoadedSettings> {
  return loadSettings({ directory, home: homeOf(directory), env });
}

async function userSettings(directory: string, value: unknown): Promise<void> {
  const path = join(homeOf(directory), "settings.json");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(value));
}

describe("settings of a directory", () => {
  it("the user's < the project's < local < environment < flags", async () => {
    const directory = await projectWith({
      ".deepwright/settings.json": { model: "openai:project", theme: "dark", statusLine: ["model"] },
      ".deepwright/settings.local.json": { model: "openai:local", theme: "light" },
    });
    await userSettings(directory, { model: "openai:user", notifications: "bell", budget: { maxCost: 2 } });
    const env = { DEEPWRIGHT_MODEL: "openai:env", DEEPWRIGHT_MAX_STEPS: "5", DEEPWRIGHT_THEME: "" };
    const { settings, origins, held } = await loadSettings({
      directory,
      home: homeOf(directory),
      env,
      flags: { model: "openai:flag" },
    });
    expect(settings).toEqual({
      model: "openai:flag",
      theme: "light",
      statusLine: ["model"],
      notifications: "bell",
      budget: { maxCost: 2, maxSteps: 5 },
    });
    expect(origins.get("model")).toEqual([{ layer: "flags", name: "--model" }]);
    expect(origins.get("budget.maxSteps")).toEqual([{ layer: "environment", name: "DEEPWRIGHT_MAX_STEPS" }]);
    expect(held).toBeUndefined();
  });

  it.each([
    ["an unknown key", { modell: "openai:x" }, "unknown key 'modell' (did you mean 'model'?)"],
    ["an unknown key inside", { sandbox: { kinds: "os" } }, "unknown key 'sandbox.kinds'"],
    ["a word that is none", { theme: "blue" }, `'theme' must be auto, light or dark, but it is "blue"`],
    ["a wrong type", { statusLine: "cost" }, `'statusLine' must be a list, but it is "cost"`],
    ["a number out of range", { budget: { maxCost: 0 } }, "'budget.maxCost' must be above 0, but it is 0"],
    ["half a number", { budget: { maxSteps: 1.5 } }, "'budget.maxSteps' must be a whole number"],
    [
      "a model without a provider",
      { model: "gpt" },
      "'model' must be provider:model, for example openai:gpt-5.4",
    ],
    [
      "an event that is none",
      { hooks: { "on-run": [] } },
      "unknown key 'hooks.on-run' (known are run-start, before-tool,",
    ],
    ["a hook without a command", { hooks: { "run-end": [{}] } }, "'hooks.run-end.0.command' must be text"],
    [
      "a relative rule",
      { permissions: [{ operations: ["read"], paths: ["a"], mode: "deny" }] },
      "must begin with /",
    ],
    [
      "a pipe in a rule",
      { commands: { allow: ["a | b"] } },
      "'commands.allow.0' must be a program and plain words",
    ],
    ["a list", [], "the file must be an object"],
    ["no JSON", "{ model: 1 }", "is not JSON"],
    ["memory elsewhere", { memory: { files: ["../x"] } }, "must name files below the project's directory"],
    ["a sandbox of no kind", { sandbox: { kind: "jail" } }, "'sandbox.kind' must be os, docker"],
  ])("%s is an error that names file, key and what was expected", async (_, content, words) => {
    const directory = await projectWith({ ".deepwright/settings.json": content });
    await expect(load(directory)).rejects.toThrow(words);
    await expect(load(directory)).rejects.toThrow(join(directory, ".deepwright/settings.json"));
  });

  it("a variable's error names the variable", async () => {
    const directory = await projectWith({});
    await expect(load(directory, { DEEPWRIGHT_MAX_COST: "much" })).rejects.toThrow(
      `DEEPWRIGHT_MAX_COST: 'budget.maxCost' must be a number, but it is "much"`,
    );
  });

  it("a link in the place of a project's file is refused", async () => {
    const directory = await projectWith({ "elsewhere.json": HOOKS, ".deepwright/x": "" });
    await symlink("../elsewhere.json", join(directory, ".deepwright/settings.json"));
    await expect(load(directory)).rejects.toThrow("is not a plain file");
  });

  it("a project's hooks wait for trust, and what the person writes here is trusted until somebody else changes it", async () => {
    const directory = await projectWith({ "a.txt": "" });
    const home = homeOf(directory);
    const place = { directory, home, kind: "local" as const };
    const written = await writeSetting({ ...place, key: "hooks.run-start", value: HOOKS.hooks["run-start"] });
    expect(written.isTrusted).toBe(true);
    expect((await load(directory)).settings).toEqual(HOOKS);
    await writeSetting({ ...place, key: "theme", value: "dark" });
    expect((await load(directory)).held).toBeUndefined();
    const path = join(directory, ".deepwright/settings.json");
    await writeFile(path, JSON.stringify({ commands: { allow: ["rm *"] } }));
    const { settings, held } = await load(directory);
    expect(settings).toEqual({ theme: "dark", commands: {} });
    expect(held).toMatchObject({ keys: ["commands.allow", "hooks"], runs: ["hooks"], hasChanged: true });
    expect((await writeSetting({ ...place, key: "notifications", value: "bell" })).isTrusted).toBe(false);
    await writeFile(path, "{}");
    expect((await load(directory)).held?.keys).toEqual(["hooks"]);
  });
});
