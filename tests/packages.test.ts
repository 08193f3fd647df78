import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "deepwright-pack-"));
  await run(process.execPath, ["scripts/build.mjs"]);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

async function pack(directory: string): Promise<string[]> {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: directory });
  const report = JSON.parse(stdout) as Packed[] | Record<string, Packed>;
  return (Object.values(report)[0] as Packed).files.map((file) => file.path);
}

test.each(["packages/core", "packages/cli"])("%s packs its build and no tests", async (directory) => {
  const files = await pack(directory);
  expect(files).toEqual(expect.arrayContaining(["package.json", "LICENSE", "README.md"]));
  expect(files.some((path) => /^dist\/.*\.js$/.test(path))).toBe(true);
  expect(files.some((path) => /^dist\/.*\.d\.ts$/.test(path))).toBe(true);
  expect(files.filter((path) => /\.test\.|fixtures|test-support|for-tests|(?<!\.d)\.ts$/.test(path))).toEqual(
    [],
  );
});

test("every file the core's exports name is there", async () => {
  const files = await pack("packages/core");
  const { exports } = JSON.parse(await readFile("packages/core/package.json", "utf8")) as { exports: object };
  const named = [...JSON.stringify(exports).matchAll(/"\.\/(dist\/[^"]+)"/g)].map(
    ([, path]) => path as string,
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((path) => !files.includes(path))).toEqual([]);
});

test("the built package runs without the source condition", async () => {
  const program = `
    import { createDeepAgent } from "deepwright";
    import { scriptedModel } from "deepwright/testing";
    const result = await createDeepAgent({ model: scriptedModel(["built"]) }).invoke({ messages: "hi" });
    console.log(result.messages.at(-1).text, import.meta.resolve("deepwright").endsWith("/dist/index.js"));
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  expect(stdout.trim()).toBe("built true");
});

test("importing the package loads neither LangChain's agents nor a provider", async () => {
  const program = `
    import { register } from "node:module";
    const seen = [];
    const hooks = \`export async function resolve(s, c, n) { const r = await n(s, c); if (/node_modules\\\\/(langchain|@langchain\\\\/(openai|anthropic))\\\\//.test(r.url)) console.log(r.url); return r; }\`;
    register("data:text/javascript," + encodeURIComponent(hooks));
    await import("deepwright");
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  expect(stdout).toBe("");
});
