/** The TypeScript of two guides compiles strictly, as a reader would paste it into one program. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

/** The names that a guide takes for granted. */
const GIVEN: Record<string, string> = {
  "docs/subagents.md": `
import { scriptedModel } from "deepwright/testing";
import { tool } from "@langchain/core/tools";
const model = scriptedModel([]);
const search = tool(async ({ query }) => query, {
  name: "search", description: "Searches.", schema: z.object({ query: z.string() }),
});`,
  "docs/models.md": `
import { ChatAnthropic } from "@langchain/anthropic";
import { createDeepAgent, createModelFallbackMiddleware, createModelRetryMiddleware } from "deepwright";
import { createMiddleware, initChatModel } from "langchain";
import { z } from "zod";`,
};

function snippetsOf(guide: string): string {
  const text = readFileSync(guide, "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code).join("\n");
}

test.each(Object.keys(GIVEN))("the snippets of %s compile strictly", (guide) => {
  const folder = resolve("bench", ".types", `guide-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const code = snippetsOf(guide);
  expect(code.length).toBeGreaterThan(500);
  expect(code).not.toMatch(/as never|as any/);
  writeFileSync(join(folder, "program.ts"), `${GIVEN[guide]}\n${code}\nexport {};\n`);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const config = { extends: resolve("tsconfig.json"), include: ["program.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout } = spawnSync(resolve("node_modules", ".bin", "tsc"), ["-p", folder, "--noEmit"], {
    encoding: "utf8",
  });
  expect(stdout).toBe("");
});
