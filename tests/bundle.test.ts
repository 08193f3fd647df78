import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(resolve("node_modules", ".deepwright-bundle-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createDeepAgent } from "deepwright";
import { scriptedModel, callTool } from "deepwright/testing";
export async function run() {
  const model = scriptedModel([callTool("write_file", { file_path: "/a.txt", content: "made in a browser" }), "done"]);
  const agent = createDeepAgent({ model });
  const result = await agent.invoke({ messages: [{ role: "user", content: "hi" }] });
  return { file: result.files["/a.txt"].content, last: result.messages.at(-1).content, outcome: result.outcome.kind };
}
`;

test("the browser condition bundles without a Node module and runs a turn", async () => {
  const entry = join(folder, "program.js");
  await writeFile(entry, PROGRAM);
  const outdir = join(folder, "out");
  const { metafile } = await build({
    entryPoints: [entry],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    conditions: ["source"],
    outExtension: { ".js": ".mjs" },
    metafile: true,
    logLevel: "silent",
    // Loaded only when a model is named by a string or events of version 3 are wanted.
    external: ["langchain", "langchain/*"],
  });
  const imported = Object.values(metafile.outputs).flatMap((output) =>
    output.imports.map((item) => item.path),
  );
  expect(imported.filter((path) => path.startsWith("node:"))).toEqual([]);
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.some((path) => path.includes("@langchain/langgraph/dist/web.js"))).toBe(true);
  expect(
    inputs.some((path) => path.includes("async_hooks") || path.endsWith("langgraph/dist/index.js")),
  ).toBe(false);
  const { run } = (await import(pathToFileURL(join(outdir, "program.mjs")).href)) as {
    run(): Promise<unknown>;
  };
  expect(await run()).toEqual({ file: "made in a browser", last: "done", outcome: "done" });
});

test("the first frame of the terminal app needs neither the schemas of the protocol nor LangChain", async () => {
  const { metafile } = await build({
    entryPoints: [resolve("packages/cli/src/app/app.ts")],
    outdir: join(folder, "app"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const entry = Object.keys(metafile.outputs).find((name) => name.endsWith("app/app.js")) as string;
  const reached = new Set<string>();
  const follow = (name: string): void => {
    reached.add(name);
    const atOnce = metafile.outputs[name]?.imports.filter(({ kind }) => kind === "import-statement") ?? [];
    for (const { path } of atOnce) if (!reached.has(path)) follow(path);
  };
  follow(entry);
  expect(reached).toContain("@deepwright/protocol/screen");
  const heavy = /^(?:@deepwright\/(?:protocol|server|checkpoint)|deepwright|zod|langchain|@langchain\/.*)$/;
  expect([...reached].filter((name) => heavy.test(name))).toEqual([]);
});
