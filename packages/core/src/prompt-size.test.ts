import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { createDeepAgent, LocalShellBackend, StateBackend } from "./index.ts";
import { say, scriptedModel } from "./testing/index.ts";

test.each([
  ["files in the state", () => new StateBackend()],
  ["a directory and a shell", () => new LocalShellBackend({ rootDir: process.cwd() })],
])("with %s, prompt and built-in tools take at most 2,500 tokens", (_name, backend) => {
  const { loop } = createDeepAgent({ model: scriptedModel([say("done")]), backend: backend() });
  const prompt = loop.systemMessage(new Set(loop.clientTools.keys()))?.text ?? "";
  const schemas = loop.tools.map((tool) => JSON.stringify(convertToOpenAITool(tool as never)));
  for (const count of [o200k, cl100k]) {
    const tokens = count(prompt) + schemas.reduce((sum, schema) => sum + count(schema), 0);
    expect(tokens).toBeGreaterThan(500);
    expect(tokens).toBeLessThanOrEqual(2_500);
  }
});
