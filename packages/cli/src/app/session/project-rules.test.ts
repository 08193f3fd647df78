import { link, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { forgetRule, loadRules, saveRule } from "./project-rules.ts";

async function home() {
  const path = await mkdtemp(join(tmpdir(), "deepwright-rules-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return { path, env: { DEEPWRIGHT_HOME: path } };
}

test("of permissions that are saved at once none is lost, and one that is forgotten stays forgotten", async () => {
  const { env } = await home();
  const rules = Array.from({ length: 20 }, (_, n) => ({ tool: "execute", prefix: ["npm", `test${n}`] }));
  await Promise.all([...rules, ...rules].map((rule) => saveRule(rule, "/a", env)));
  expect(await loadRules("/a", env)).toHaveLength(20);
  expect(await loadRules("/b", env)).toEqual([]);
  await forgetRule({ tool: "execute", prefix: ["npm", "test3"] }, "/a", env);
  await forgetRule({ tool: "never" }, "/a", env);
  const left = await loadRules("/a", env);
  expect(left).toHaveLength(19);
  expect(left).not.toContainEqual({ tool: "execute", prefix: ["npm", "test3"] });
});

test("files that are broken or say something else give no permission", async () => {
  const { path, env } = await home();
  await saveRule({ tool: "execute", prefix: ["ls"] }, "/a", env);
  const [place = ""] = await readdir(join(path, "permissions"));
  for (const [name, text] of [
    ["1.json", "{"],
    ["2.json", '{"directory":"/b","rule":{"tool":"execute"}}'],
    ["3.json", '{"directory":"/a","rule":{"tool":"execute","prefix":[1]}}'],
  ] as const)
    await writeFile(join(path, "permissions", place, name), text);
  expect(await loadRules("/a", env)).toEqual([{ tool: "execute", prefix: ["ls"] }]);
});

test("a permission that is saved again replaces its file: who reads the old one reads all of it", async () => {
  const { path, env } = await home();
  const rule = { tool: "execute", prefix: ["ls"] };
  await saveRule(rule, "/a", env);
  const [place = ""] = await readdir(join(path, "permissions"));
  const [name = ""] = await readdir(join(path, "permissions", place));
  const old = join(path, "old");
  await link(join(path, "permissions", place, name), old);
  await writeFile(old, "old");
  await saveRule(rule, "/a", env);
  expect(await readFile(old, "utf8")).toBe("old");
  expect(await readdir(join(path, "permissions", place))).toEqual([name]);
  expect(await loadRules("/a", env)).toEqual([rule]);
});
