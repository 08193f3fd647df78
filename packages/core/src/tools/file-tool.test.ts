import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { BackendProtocol } from "../backends/backend.ts";
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

  it.each([undefined, true, 0, {}])(
    "a validatePath that returns %j instead of a path refuses",
    async (given) => {
      const validatePath = () => given as never;
      const { content, status } = await ask("read_file", { file_path: "/a.txt" }, sample, { validatePath });
      expect([status, content]).toEqual(["error", "Path is not allowed: /a.txt"]);
    },
  );

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

it("metadata of a change is in the message, and not in its text", async () => {
  const backend = { write: () => ({ path: "/a", metadata: { shelf: 7 } }) } as unknown as BackendProtocol;
  const call: Call = ["write_file", { file_path: "/a", content: "" }];
  const { answers } = await run(
    [[call]],
    {},
    toolsWith({}, () => backend),
  );
  expect(answers[0]).toMatchObject({ metadata: { shelf: 7 }, content: "Successfully wrote to '/a'" });
});

describe("what a backend refuses", () => {
  const refusedWith = async (result: object, workingDirectory?: string): Promise<unknown> => {
    const backend = { workingDirectory, write: () => result } as unknown as BackendProtocol;
    const call: Call = ["write_file", { file_path: "/p/x", content: "" }];
    const { answers } = await run(
      [[call]],
      {},
      toolsWith({}, () => backend),
    );
    expect(answers[0]?.status).toBe("error");
    return answers[0]?.content;
  };

  it.each([
    ["Writes are not allowed under /p/x", "Writes are not allowed under /p/x"],
    ["Cannot write to /p/x because it already exists.", "Cannot write to /p/x because it already exists."],
    ["Disk is on fire", "Error: Disk is on fire"],
    ["Error: permission denied for write on /p/x", "Error: permission denied for write on /p/x"],
  ])("is said in the agreed words when it has no code: %s", async (error, expected) => {
    expect(await refusedWith({ error })).toBe(expected);
  });

  it("comes with the place to work in when the path was outside of it", async () => {
    const outside = { error: "'/p/x' leads out of the root directory", code: "OUTSIDE_ROOT" };
    expect(await refusedWith(outside, "/home/me")).toBe(
      "Error: '/p/x' leads out of the root directory. You work in /home/me: stay inside it",
    );
    expect(await refusedWith(outside, "/")).toBe("Error: '/p/x' leads out of the root directory");
  });
});

describe("a page without a type", () => {
  it.each([
    ["/a.png", "text", "     1│text"],
    ["/a.bin", Uint8Array.of(0, 1), "'/a.bin' is not text: binary, application/octet-stream, 2 bytes."],
  ])("is told by its content: %s", async (file_path, content, expected) => {
    const backend = { read: () => ({ content }) } as unknown as BackendProtocol;
    const { answers } = await run(
      [[["read_file", { file_path }]]],
      {},
      toolsWith({}, () => backend),
    );
    expect(answers[0]?.content).toContain(expected);
  });
});

describe("a search that ran out of time", () => {
  const late = { truncated: true, timedOut: true };
  const searchWith = async (name: string, result: object): Promise<unknown> => {
    const backend = { grep: () => result, glob: () => result } as unknown as BackendProtocol;
    const { answers } = await run(
      [[[name, { pattern: "x" }]]],
      {},
      toolsWith({}, () => backend),
    );
    return answers[0]?.content;
  };

  it("says so, also when nothing was found so far", async () => {
    expect(await searchWith("grep", { matches: [], ...late })).toBe(
      "No matches found for pattern 'x'\n[The time was up before all was searched: name a smaller path, or a glob]",
    );
    expect(await searchWith("glob", { files: [], ...late })).toBe(
      "No files found matching pattern 'x'\n[The time was up before all was searched: name a smaller path]",
    );
  });

  it("does not advise to raise the number of matches", async () => {
    const matches = [{ path: "/a", line: 1, text: "x" }];
    expect(await searchWith("grep", { matches, ...late })).toBe(
      "/a:\n     1│x\n[The time was up before all was searched: name a smaller path, or a glob]",
    );
    expect(await searchWith("glob", { files: [{ path: "/x" }], ...late })).toBe(
      "/x\n[The time was up before all was searched: name a smaller path]",
    );
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
