import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { FileToolOptions } from "./file-tool.ts";
import { ask, type Call, run, sample, toolsWith } from "./turns-for-tests.ts";

describe("options of the file tools", () => {
  it("overwrites only where that was allowed", async () => {
    const answer = await ask("write_file", { file_path: "/a.txt", content: "new" }, sample, {
      overwrite: true,
    });
    expect(answer).toMatchObject({ content: "Successfully wrote to '/a.txt'", status: "success" });
  });

  it("keeps to the allowed directories", async () => {
    const options = { allowedPrefixes: ["/src/"] };
    expect((await ask("read_file", { file_path: "/src/main.ts" }, sample, options)).status).toBe("success");
    expect((await ask("read_file", { file_path: "/a.txt" }, sample, options)).content).toBe(
      'Path must start with one of ["/src/"]: /a.txt',
    );
    expect((await ask("ls", {}, sample, options)).status).toBe("error");
  });

  it("asks validatePath for the path to use and tells the model why it refused", async () => {
    const validatePath = (path: string): string => {
      if (path.startsWith("/src")) throw new Error("Hands off /src");
      return path.replace(/^\/alias/, "/a");
    };
    expect((await ask("read_file", { file_path: "/src/./main.ts" }, sample, { validatePath })).content).toBe(
      "Hands off /src",
    );
    expect(
      (await ask("read_file", { file_path: "/alias.txt", limit: 1 }, sample, { validatePath })).content,
    ).toContain("hello");
  });

  it("caps matches as told, or not at all", async () => {
    const files = { "/m": "x\n".repeat(1500) };
    const lines = async (options: Partial<FileToolOptions>): Promise<number> =>
      ((await ask("grep", { pattern: "x" }, files, options)).content as string).split("\n").length;
    expect(await lines({})).toBe(1002);
    expect(await lines({ grepMaxCount: 10 })).toBe(12);
    expect(await lines({ grepMaxCount: null })).toBe(1501);
  });

  it("shows only the surroundings of a match in a very long line", async () => {
    const files = { "/min.js": `${"a".repeat(100_000)}NEEDLE${"b".repeat(100_000)}` };
    const { content } = await ask("grep", { pattern: "NEEDLE" }, files);
    expect((content as string).length).toBeLessThan(600);
    expect(content).toContain("aNEEDLEb");
  });
});

describe("what providers see of the file tools", () => {
  it("is a plain object with the required arguments, whoever converts it", () => {
    for (const tool of toolsWith().values()) {
      const schemas = [
        toJsonSchema(tool.schema as never),
        z.toJSONSchema(tool.schema as never),
        z.toJSONSchema(tool.schema as never, { io: "input" }),
        convertToOpenAITool(tool).function.parameters,
      ] as Record<string, any>[];
      for (const schema of schemas) {
        expect(schema.type).toBe("object");
        expect(schema.properties).not.toHaveProperty("path.anyOf");
        if (schema.properties.file_path) expect(schema.required).toContain("file_path");
        expect(schema.required ?? []).not.toContain("path");
        expect(schema.required ?? []).not.toContain("offset");
      }
    }
  });

  it("is said in few words", () => {
    const definitions = [...toolsWith().values()].map((tool) => JSON.stringify(convertToOpenAITool(tool)));
    expect(definitions.join("").length / 4).toBeLessThan(1200);
    expect(definitions.join("\n")).toMatchSnapshot();
  });

  it("keeps the answer of a turn in the order of its calls", async () => {
    const calls: Call[] = ["/c", "/a", "/b"].map((file_path) => [
      "write_file",
      { file_path, content: file_path },
    ]);
    const { answers } = await run([calls]);
    expect(answers.map((answer) => answer.tool_call_id)).toEqual(["0-0", "0-1", "0-2"]);
  });
});
