import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "deepwright-pack-"));
  await run(process.execPath, ["scripts/build.mjs"]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Packed {
  readonly name: string;
  readonly files: readonly { readonly path: string }[];
}

let packed: Promise<Packed[]> | undefined;

/** The files of the package. All packages are packed by one start of npm. */
async function pack(directory: string): Promise<string[]> {
  packed ??= packAll();
  const { name } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  const { files } = (await packed).find((each) => each.name === name) as Packed;
  return files.map(({ path }) => path);
}

async function packAll(): Promise<Packed[]> {
  const { stdout } = await run("npm", ["pack", "--json", "--workspaces", "--pack-destination", folder]);
  return Object.values(JSON.parse(stdout) as Packed[] | Record<string, Packed>);
}

test.each([
  "packages/core",
  "packages/checkpoint",
  "packages/sandboxes",
  "packages/protocol",
  "packages/evals",
  "packages/mcp",
  "packages/server",
  "packages/app",
  "packages/cli",
])("%s packs its build and no tests", async (directory) => {
  const files = await pack(directory);
  expect(files).toEqual(expect.arrayContaining(["package.json", "LICENSE", "README.md"]));
  expect(files.some((path) => /^dist\/.*\.js$/.test(path))).toBe(true);
  expect(files.some((path) => /^dist\/.*\.d\.ts$/.test(path))).toBe(true);
  expect(
    files.filter((path) =>
      /\.test\.|fixtures|test-support|for-tests|chaos|from-source|(?<!\.d)\.ts$/.test(path),
    ),
  ).toEqual([]);
});

test("packages/web packs the built page, and the CLI depends on it", async () => {
  const files = await pack("packages/web");
  expect(files).toEqual(expect.arrayContaining(["package.json", "LICENSE", "README.md", "dist/index.html"]));
  expect(files.some((path) => /^dist\/assets\/index-.*\.js$/.test(path))).toBe(true);
  expect(files.filter((path) => /\.tsx?$|^src\//.test(path))).toEqual([]);
  const cli = JSON.parse(await readFile("packages/cli/package.json", "utf8"));
  expect(cli.dependencies).toHaveProperty("@deepwright/web");
});

/** Each export is two files: what runs, and its types. */
test.each([
  ["packages/core", 5],
  ["packages/checkpoint", 5],
  ["packages/sandboxes", 20],
  ["packages/protocol", 3],
  ["packages/evals", 2],
  ["packages/mcp", 2],
  ["packages/server", 4],
  ["packages/app", 2],
])("every file the exports of %s name is there", async (directory, least) => {
  const files = await pack(directory);
  const { exports } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as {
    exports: object;
  };
  const named = [...JSON.stringify(exports).matchAll(/"\.\/(dist\/[^"]+)"/g)].map(
    ([, path]) => path as string,
  );
  expect(named.length).toBeGreaterThanOrEqual(least);
  expect(named.filter((path) => !files.includes(path))).toEqual([]);
});

test.each(["core", "checkpoint", "sandboxes", "protocol", "evals", "mcp", "server", "app"])(
  "every entry of %s is in `typesVersions`, where the classic resolution looks",
  async (name) => {
    const manifest = JSON.parse(await readFile(join("packages", name, "package.json"), "utf8"));
    const { ".": main, "./package.json": _, ...others } = manifest.exports;
    expect(manifest).toMatchObject({ main: main.default, types: main.types });
    const types = Object.entries(others as Record<string, { types: string }>).map(([entry, at]) => [
      entry.slice(2),
      [at.types],
    ]);
    expect(manifest.typesVersions?.["*"] ?? {}).toEqual(Object.fromEntries(types));
  },
);

/** The loop uses parts of LangGraph that may change in any minor version: `core/src/engine`. */
test("no package accepts a minor version of LangGraph that the tests do not run with", async () => {
  const manifestOf = async (folder: string) =>
    JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const { version } = await manifestOf("node_modules/@langchain/langgraph");
  const [, minor, patch] = /^(\d+\.\d+)\.(\d+)$/.exec(version) as unknown as [string, string, string];
  const names = [
    "core",
    "checkpoint",
    "sandboxes",
    "protocol",
    "evals",
    "mcp",
    "server",
    "app",
    "web",
    "cli",
  ];
  const manifests = await Promise.all(names.map((name) => manifestOf(join("packages", name))));
  const ranges = manifests.flatMap(
    ({ peerDependencies }) => peerDependencies?.["@langchain/langgraph"] ?? [],
  );
  expect(ranges.length).toBeGreaterThanOrEqual(5);
  for (const range of ranges) {
    expect(range).toMatch(new RegExp(`^~${minor.replace(".", "\\.")}\\.\\d+$`));
    expect(Number(range.split(".").at(-1))).toBeLessThanOrEqual(Number(patch));
  }
  expect(manifests.at(-1).dependencies["@langchain/langgraph"]).toBe(version);
  for (const name of ["core", "langgraph", "langgraph-sdk"]) {
    const installed = await manifestOf(`node_modules/@langchain/${name}`);
    expect(await readFile("docs/deploy.md", "utf8")).toContain(`@langchain/${name}@${installed.version} `);
  }
  expect(await readFile("packages/core/README.md", "utf8")).toContain(`@langchain/langgraph@${minor} `);
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

test("the built saver keeps a thread in SQLite, in a thread of its own", async () => {
  const program = `
    import { createDeepAgent } from "deepwright";
    import { scriptedModel } from "deepwright/testing";
    import { openThreads } from "@deepwright/checkpoint";
    import { SqliteSaver, SqliteStore } from "@deepwright/checkpoint/sqlite";
    const path = ${JSON.stringify(join(folder, "built.db"))};
    const checkpointer = await SqliteSaver.open(path);
    const agent = createDeepAgent({ model: scriptedModel(["built"]), checkpointer });
    await agent.invoke({ messages: "hi" }, { configurable: { thread_id: "t" } });
    const store = await SqliteStore.open(path);
    await store.put(["a"], "b", { c: 1 });
    const { threads } = await openThreads(checkpointer).list();
    console.log(threads[0].firstPrompt, (await store.get(["a"], "b")).value.c);
    console.log(import.meta.resolve("@deepwright/checkpoint/sqlite").endsWith("/dist/sqlite/index.js"));
    await store.close();
    await checkpointer.close();
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  expect(stdout.trim()).toBe("hi 1\ntrue");
});

test("the built terminal program runs with other packages as npm installs them", async () => {
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  const env = { PATH: process.env.PATH, HOME: folder, DEEPWRIGHT_HOME: join(folder, "home") };
  const program = [resolve("packages/cli/dist/main.js"), "run", "--sandbox", "off", "Look around"];
  const started = run(process.execPath, program, {
    cwd: workspace,
    env: { ...env, OLLAMA_HOST: "127.0.0.1:1" },
  });
  started.child.stdin?.end();
  expect((await started).stderr).toContain("✔ done");
});

test("MCP without its packages says how to install them", async () => {
  const program = `
    import { register } from "node:module";
    const hooks = \`export async function resolve(s, c, n) { if (s.startsWith("@modelcontextprotocol/")) throw Object.assign(new Error("Cannot find package '" + s + "'"), { code: "ERR_MODULE_NOT_FOUND" }); return n(s, c); }\`;
    register("data:text/javascript," + encodeURIComponent(hooks));
    const { openMcp } = await import("@deepwright/mcp");
    const mcp = await openMcp({ servers: { a: { command: "cat" } }, onNotice: ({ message }) => console.log(message) });
    await mcp.close();
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
  expect(stdout).toContain("npm install @langchain/mcp-adapters @modelcontextprotocol/sdk");
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

/** TypeScript 5, because version 7 no longer has the classic resolution. */
const TYPESCRIPT_5 = resolve("bench", "node_modules", "typescript", "bin", "tsc");

const COMMONJS_PROGRAM = `
import { createDeepAgent, FilesystemBackend } from "deepwright";
import { createDeepAgent as same } from "deepwright/node";
import { scriptedModel } from "deepwright/testing";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
const agent = createDeepAgent({ model: scriptedModel(["required"]), backend: new FilesystemBackend({ rootDir: "." }) });
agent.invoke({ messages: "hi" }).then(({ messages }) => {
  console.log(messages.at(-1)?.text, same === createDeepAgent, typeof SqliteSaver.open);
});
// @ts-expect-error there is no such option
export const wrong = () => createDeepAgent({ modle: "x" });
`;

test.each([
  ["the classic resolution", ["--module", "commonjs", "--moduleResolution", "node10"]],
  ["the resolution of Node", ["--module", "nodenext"]],
])("a CommonJS project with %s finds types and code", async (_, options) => {
  const project = await mkdtemp(resolve("node_modules", ".deepwright-commonjs-"));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  await writeFile(join(project, "package.json"), '{"name":"a-project"}');
  await writeFile(join(project, "program.ts"), COMMONJS_PROGRAM);
  const common = ["--strict", "--skipLibCheck", "--target", "es2022", "--types", "node"];
  const compile = [TYPESCRIPT_5, ...common, ...options, join(project, "program.ts")];
  const { stdout: errors } = await run(process.execPath, compile).catch((error: { stdout: string }) => error);
  expect(errors).toBe("");
  expect(await readFile(join(project, "program.js"), "utf8")).toContain('require("deepwright")');
  const { stdout } = await run(process.execPath, [join(project, "program.js")]);
  expect(stdout.trim()).toBe("required true function");
});

test("a recorded thread becomes a test that runs in a project with the built package", async () => {
  const project = await mkdtemp(resolve("node_modules", ".deepwright-recorded-"));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  const program = `
    import { writeFileSync } from "node:fs";
    import { createDeepAgent } from "deepwright";
    import { callTool, say, scriptedModel } from "deepwright/testing";
    import { cassetteOf, cassetteText, testFileOf } from "@deepwright/evals";
    const model = scriptedModel([callTool("write_file", { file_path: "/a.md", content: "one" }, "c1"), say("Done.")]);
    const { messages } = await createDeepAgent({ model }).invoke({ messages: "Write a file." });
    const cassette = await cassetteOf(messages, { name: "files" });
    writeFileSync("files.cassette.json", cassetteText(cassette));
    writeFileSync("vitest.config.mjs", "export default {};");
    writeFileSync("files.test.ts", testFileOf("files.cassette.json", { faults: true, requests: cassette.requests.length }));
  `;
  await run(process.execPath, ["--input-type=module", "-e", program], { cwd: project });
  const vitest = resolve("node_modules", "vitest", "vitest.mjs");
  const { stdout } = await run(process.execPath, [vitest, "run", "--root", project, "--reporter", "json"], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project },
  });
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numTotalTests: 6, numPassedTests: 6 });
});
