import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const TSC = resolve("node_modules", ".bin", "tsc");
/** Inside bench/, where the peer is installed and both libraries find one copy of LangChain. */
const FOLDER = resolve("bench", ".types", "programs");
const TOOLS = 50;
const MIDDLEWARES = 5;
const SUBAGENTS = 10;

const numbered = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join("");

/** Every subagent has a few of the tools, every other one a middleware and a typed result of its own. */
const SUBAGENT_LIST = numbered(
  SUBAGENTS,
  (i) => `
  {
    name: "subagent${i}", description: "Subagent ${i}", systemPrompt: "Do the work of ${i}.",
    tools: [${numbered(5, (k) => `tool${i * 5 + k}, `)}],
    ${i % 2 === 0 ? `middleware: [middleware${i % MIDDLEWARES}], responseFormat: z.object({ answer${i}: z.string() }),` : ""}
  },`,
);

/** The same program for either library: 50 tools, 5 middlewares with state, a context, a typed result. */
function program(library: string, subagents = ""): string {
  return `
import { tool } from "@langchain/core/tools";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { createDeepAgent } from "${library}";
${numbered(
  TOOLS,
  (i) => `
const tool${i} = tool(async ({ a${i}, b }) => \`\${a${i}} \${b}\`, {
  name: "tool${i}", description: "Tool ${i}",
  schema: z.object({ a${i}: z.string(), b: z.number().optional(), c: z.array(z.object({ d: z.enum(["x", "y"]) })).default([]) }),
});`,
)}
${numbered(
  MIDDLEWARES,
  (i) => `
const middleware${i} = createMiddleware({
  name: "m${i}", stateSchema: z.object({ key${i}: z.string().default("x"), n${i}: z.number().optional() }),
  beforeModel: (state) => ({ key${i}: state.key${i} + "!" }), wrapModelCall: (request, handler) => handler(request),
});`,
)}
const agent = createDeepAgent({
  model: "anthropic:claude-sonnet-4-6",
  tools: [${numbered(TOOLS, (i) => `tool${i}, `)}],
  middleware: [${numbered(MIDDLEWARES, (i) => `middleware${i}, `)}] as const,
  contextSchema: z.object({ user: z.string() }),${subagents && `\n  subagents: [${subagents}\n  ],`}
});
const result = await agent.invoke({ messages: [{ role: "user", content: "hi" }] }, { context: { user: "u" } });
export const keys: string[] = [result.key0, result.key${MIDDLEWARES - 1}, String(result.n3), String(result.messages.at(-1)?.content)];
`;
}

/** What only a typed result and context can refuse; @ts-expect-error fails when they accept it. */
const REFUSED = `
// @ts-expect-error a state key is a string
export const key: number = result.key0;
// @ts-expect-error the context wants a string
await agent.invoke({ messages: [] }, { context: { user: 3 } });
`;

interface Cost {
  readonly instantiations: number;
  readonly megabytes: number;
}

async function check(name: string, source: string): Promise<Cost> {
  await writeFile(join(FOLDER, `${name}.ts`), source);
  const config = {
    compilerOptions: {
      target: "ES2022",
      module: "NodeNext",
      moduleResolution: "NodeNext",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
      paths: { deepwright: ["./deepwright/index.d.ts"] },
    },
    files: [`${name}.ts`],
  };
  await writeFile(join(FOLDER, `${name}.json`), JSON.stringify(config));
  const { stdout } = await run(TSC, ["-p", join(FOLDER, `${name}.json`), "--extendedDiagnostics"]);
  const number = (label: string): number => Number(new RegExp(`${label}:\\s+(\\d+)`).exec(stdout)?.[1]);
  return { instantiations: number("Instantiations"), megabytes: number("Memory used") / 1024 };
}

beforeAll(async () => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, "package.json"), '{"type":"module"}');
  const outDir = join(FOLDER, "deepwright");
  await run(TSC, ["-p", "packages/core/tsconfig.build.json", "--outDir", outDir, "--emitDeclarationOnly"]);
});
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

test("an agent with 50 tools and 5 middlewares costs the type checker at most 0.6 of the peer's", async () => {
  const ours = await check("ours", program("deepwright"));
  const peer = await check("peer", program("deepagents"));
  console.log(
    `type instantiations: ours ${ours.instantiations}, peer ${peer.instantiations}; memory ${ours.megabytes.toFixed(0)} MB`,
  );
  expect(ours.instantiations).toBeGreaterThan(1_000);
  expect(ours.instantiations / peer.instantiations).toBeLessThanOrEqual(0.6);
  expect(ours.megabytes).toBeLessThan(300);
});

test("with 10 subagents it costs at most 0.6 of the peer's too", async () => {
  const ours = await check("ours-team", program("deepwright", SUBAGENT_LIST));
  const peer = await check("peer-team", program("deepagents", SUBAGENT_LIST));
  console.log(`type instantiations with subagents: ours ${ours.instantiations}, peer ${peer.instantiations}`);
  expect(ours.instantiations).toBeGreaterThan(1_000);
  expect(ours.instantiations / peer.instantiations).toBeLessThanOrEqual(0.6);
});

test("state and context of that agent are typed", async () => {
  await expect(check("strict", program("deepwright", SUBAGENT_LIST) + REFUSED)).resolves.toBeDefined();
});
