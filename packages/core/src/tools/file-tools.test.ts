import { Command } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { BackendProtocol } from "../backends/backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { ask, type Call, run, sample, toolsWith } from "./turns-for-tests.ts";

describe("file tools", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["ls", {}, "/a.txt\n/empty.txt\n/src/"],
    ["ls", { path: "" }, "/a.txt\n/empty.txt\n/src/"],
    ["ls", { path: null }, "/a.txt\n/empty.txt\n/src/"],
    ["ls", { path: "/src" }, "/src/lib/\n/src/main.ts"],
    ["ls", { path: "/none" }, "No files found in /none"],
    ["read_file", { file_path: "/a.txt" }, "     1│hello\n     2│world"],
    ["read_file", { path: "a.txt" }, "     1│hello\n     2│world"],
    ["read_file", { file_path: "", path: "/a.txt" }, "     1│hello\n     2│world"],
    ["read_file", { file_path: "/a.txt", limit: 1 }, "     1│hello\n[Lines 1-1 of 2. Go on with offset=1]"],
    [
      "read_file",
      { file_path: "/a.txt", offset: "1", limit: "5" },
      "     2│world\n[Lines 2-2 of 2: the end]",
    ],
    ["read_file", { file_path: "/a.txt", offset: -3, limit: 0, column: "" }, "     1│hello\n     2│world"],
    ["read_file", { file_path: "/a.txt", column: 3 }, "     1│lo\n     2│world"],
    ["read_file", { file_path: "/empty.txt" }, "System reminder: File exists but has empty contents"],
    ["write_file", { file_path: "/n.txt", content: "" }, "Successfully wrote to '/n.txt'"],
    [
      "edit_file",
      { file_path: "/a.txt", old_string: "hello", new_string: "" },
      "Successfully replaced 1 occurrence(s) in '/a.txt'",
    ],
    [
      "edit_file",
      { path: "/src/main.ts", old_string: "x", new_string: "z", replace_all: "true" },
      "Successfully replaced 2 occurrence(s) in '/src/main.ts'",
    ],
    ["delete", { file_path: "/src" }, "Successfully deleted '/src'"],
    ["glob", { pattern: "*.ts" }, "/src/lib/util.ts\n/src/main.ts"],
    ["glob", { pattern: "lib/*.ts", path: "/src" }, "/src/lib/util.ts"],
    ["glob", { pattern: "*.py" }, "No files found matching pattern '*.py'"],
    [
      "grep",
      { pattern: "x" },
      "/src/lib/util.ts:\n     1│export const x = 2;\n/src/main.ts:\n     1│const x = 1;\n     2│const y = x;",
    ],
    ["grep", { pattern: "x", output_mode: "files_with_matches" }, "/src/lib/util.ts\n/src/main.ts"],
    ["grep", { pattern: "x", output_mode: "count" }, "/src/lib/util.ts: 1\n/src/main.ts: 2"],
    ["grep", { pattern: "x", path: "/src/main.ts", output_mode: "count" }, "/src/main.ts: 2"],
    ["grep", { pattern: "x", glob: "main.*", output_mode: "count", max_count: null }, "/src/main.ts: 2"],
    [
      "grep",
      { pattern: "x", max_count: "1", output_mode: "files_with_matches" },
      "/src/lib/util.ts\n[Stopped after 1 match: narrow the search or raise max_count]",
    ],
    ["grep", { pattern: "nothing" }, "No matches found for pattern 'nothing'"],
    [
      "grep",
      { pattern: "const.*=" },
      "No matches found for pattern 'const.*='. It was searched as literal text, not as a regular expression.",
    ],
  ])("%s %j answers", async (name, args, expected) => {
    const answer = await ask(name, args, sample);
    expect(answer).toMatchObject({ content: expected, status: "success", name, tool_call_id: "0-0" });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["read_file", { file_path: "/x" }, "Error: File '/x' not found"],
    [
      "read_file",
      { file_path: "/src/mian.ts" },
      "Error: File '/src/mian.ts' not found. Did you mean '/src/main.ts'?",
    ],
    [
      "read_file",
      { file_path: "/src/main.js" },
      "Error: File '/src/main.js' not found. Did you mean '/src/main.ts'?",
    ],
    ["read_file", { file_path: "/Main.ts" }, "Error: File '/Main.ts' not found"],
    [
      "edit_file",
      { file_path: "/main.ts", old_string: "a", new_string: "b" },
      "Error: File '/main.ts' not found. Did you mean '/src/main.ts'?",
    ],
    ["read_file", { file_path: "/src" }, "Error: '/src' is a directory"],
    [
      "read_file",
      { file_path: "/a.txt", offset: 7 },
      "Error: Offset 7 is past the end of the file, which has 2 lines",
    ],
    [
      "read_file",
      { file_path: "/a.txt", column: 9 },
      "Error: Column 9 is past the end of line 1, which has 5 characters",
    ],
    ["read_file", { file_path: "../x" }, "Path traversal not allowed: ../x"],
    ["read_file", { file_path: "C:\\x" }, "Windows absolute paths are not supported: C:\\x"],
    ["read_file", { file_path: "/ok.txt\0" }, "Path contains a control character: /ok.txt\\u0000"],
    ["ls", { path: "/a.txt" }, "Error: '/a.txt' is a file, not a directory"],
    ["ls", { path: "~/x" }, "Path traversal not allowed: ~/x"],
    [
      "write_file",
      { file_path: "/a.txt", content: "x" },
      "Cannot write to /a.txt because it already exists. Read and then make an edit, or write to a new path.",
    ],
    [
      "write_file",
      { file_path: "/src", content: "x" },
      "Error: Cannot write to /src because it is a directory",
    ],
    ["edit_file", { file_path: "/x", old_string: "a", new_string: "b" }, "Error: File '/x' not found"],
    [
      "edit_file",
      { file_path: "/a.txt", old_string: "x", new_string: "b" },
      "Error: String not found in file: 'x'",
    ],
    [
      "edit_file",
      { file_path: "/a.txt", old_string: "l", new_string: "b" },
      "Error: String 'l' appears 3 times in file. Use replace_all=True to replace all, or add surrounding text to old_string to make it unique (lines 1, 1, 2)",
    ],
    [
      "edit_file",
      { file_path: "/a.txt", old_string: "", new_string: "b" },
      "Error: old_string is empty, but the file has content: give the text to replace",
    ],
    [
      "edit_file",
      { file_path: "/a.txt", old_string: "a", new_string: "a" },
      "Error: old_string and new_string are the same: nothing to change",
    ],
    ["delete", { file_path: "/none" }, "Error: File '/none' not found"],
    ["glob", { pattern: "../*" }, "Path traversal not allowed: ../*"],
    ["glob", { pattern: "*", path: "/../../etc" }, "Path traversal not allowed: /../../etc"],
    [
      "glob",
      { pattern: "{a,b}".repeat(18) },
      `Error: Pattern has more than 256 alternatives: ${"{a,b}".repeat(18)}`,
    ],
    ["grep", { pattern: "" }, "Error: Pattern is empty"],
    ["grep", { pattern: "x", glob: "../*" }, "Path traversal not allowed: ../*"],
  ])("%s %j is answered with an error", async (name, args, expected) => {
    const answer = await ask(name, args, sample);
    expect(answer).toMatchObject({ content: expected, status: "error", name, tool_call_id: "0-0" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["read_file", {}],
    ["read_file", { file_path: 7 }],
    ["read_file", { file_path: "/a.txt", offset: "soon" }],
    ["write_file", { file_path: "/a.txt" }],
    ["grep", { pattern: "x", output_mode: "everything" }],
    ["glob", {}],
  ])("%s %j is told what is wrong with its arguments", async (name, args) => {
    const answer = await ask(name, args, sample);
    expect(answer).toMatchObject({ status: "error", name, tool_call_id: "0-0" });
    expect(answer.content).toMatch(new RegExp(`^Error: The arguments for tool '${name}' are not valid:\n✖ `));
  });

  const LINES = "     1│hello\n     2│world";
  const NAMES = "Its arguments are: file_path, offset, limit, column. Unknown arguments were ignored.";
  it.each<[string, Record<string, unknown>, string]>([
    ["read_file", { path: "/a.txt", lines: null }, LINES],
    [
      "read_file",
      { path: "/a.txt", limt: 1 },
      `Note: read_file has no argument 'limt' (did you mean 'limit'?). ${NAMES}\n${LINES}`,
    ],
    [
      "read_file",
      { file_path: "/a.txt", maxLines: 1, filePath: "/b.txt" },
      `Note: read_file has no argument 'maxLines', 'filePath'. ${NAMES}\n${LINES}`,
    ],
    [
      "read_file",
      { file_path: "/none", limt: 1 },
      `Error: File '/none' not found\nNote: read_file has no argument 'limt' (did you mean 'limit'?). ${NAMES}`,
    ],
    [
      "write_file",
      { file_path: "/n.txt", content: "", mode: "x" },
      "Note: write_file has no argument 'mode'. Its arguments are: file_path, content. Unknown arguments were ignored.\nSuccessfully wrote to '/n.txt'",
    ],
  ])("%s %j is told which arguments it does not have", async (name, args, expected) =>
    expect((await ask(name, args, sample)).content).toBe(expected),
  );

  it("names the argument that a missing one was misspelt as", async () => {
    const { content } = await ask("read_file", { filePath: "/a.txt" }, sample);
    expect(content).toMatch(
      / file_path\nread_file has no argument 'filePath' \(did you mean 'file_path'\?\)\. /,
    );
  });

  it("pages through a file of 5,000 lines, 2,000 at a time", async () => {
    const content = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n");
    const args = { file_path: "/big", limit: 9999 };
    const { answers } = await run(
      [
        [["read_file", args]],
        [["read_file", { ...args, offset: 2000 }]],
        [["read_file", { ...args, offset: 4000 }]],
      ],
      { "/big": content },
    );
    const last = answers.map((answer) => (answer.content as string).split("\n").at(-1));
    expect(last).toEqual([
      "[Lines 1-2000 of 5000. Go on with offset=2000]",
      "[Lines 2001-4000 of 5000. Go on with offset=4000]",
      "[Lines 4001-5000 of 5000: the end]",
    ]);
  });

  it("bounds a page by its size and says where to go on", async () => {
    const answer = await ask(
      "read_file",
      { file_path: "/wide" },
      { "/wide": `${"x".repeat(1900)}\n`.repeat(100) },
    );
    expect((answer.content as string).length).toBeLessThan(81_000);
    const end = /\[Lines 1-(\d+) of 100\. Go on with offset=(\d+)\]$/.exec(answer.content as string);
    expect(end?.[1]).toBe(end?.[2]);
    expect(Number(end?.[1])).toBeGreaterThan(20);
  });

  it("bounds a line of 5 MB and gives its size where lines were not counted", async () => {
    const long = await ask(
      "read_file",
      { file_path: "/long" },
      { "/long": `${"x".repeat(5_000_000)}\n${"y\n".repeat(3000)}` },
    );
    expect((long.content as string).length).toBeLessThan(81_000);
    expect(long.content).toContain(
      "\n… line 1 goes on for 4998000 characters: offset=0, column=2000\n     2│y\n",
    );
    expect(long.content).toMatch(/\[Lines 1-2000 of a file of 5006001 bytes\. Go on with offset=2000\]$/);
  });

  it("shows the empty line at the end of a page", async () => {
    const answer = await ask("read_file", { file_path: "/f", offset: 1, limit: 1 }, { "/f": "a\n\nb\n" });
    expect(answer.content).toBe("     2│\n[Lines 2-2 of 3. Go on with offset=2]");
  });

  it("describes what is not text", async () => {
    const tools = toolsWith({}, () => {
      const backend = new StateBackend({
        state: { files: { "/p.png": { content: "iVBORw==", mimeType: "image/png" } } },
      });
      return { read: backend.read.bind(backend) } as unknown as BackendProtocol;
    });
    const { answers } = await run([[["read_file", { file_path: "/p.png" }]]], {}, tools);
    expect(answers[0]?.content).toBe(
      "'/p.png' is not text: image, image/png, 4 bytes. Its content cannot be shown here.",
    );
  });

  const PNG = atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  );
  const readBytes = async (path: string, content: string, mimeType: string): Promise<unknown> => {
    const bytes = Buffer.from(content, "latin1");
    const backend = { read: () => ({ content: new Uint8Array(bytes), mimeType }) };
    const tools = toolsWith({}, () => backend as unknown as BackendProtocol);
    const { answers } = await run([[["read_file", { file_path: path }]]], {}, tools);
    return answers[0]?.content;
  };

  it.each([
    ["/a.png", PNG, "image/png", "image", "image"],
    ["/a.txt", PNG, "image/png", "image", "image"],
    ["/a.pdf", "%PDF-1.7\n\xe2\n%%EOF\n", "application/pdf", "file", "PDF"],
    ["/a.mp3", "ID3\x04..", "audio/mpeg", "audio", "audio"],
    ["/a.mp4", "\0\0\0\x20ftypisom", "video/mp4", "video", "video"],
  ])(
    "hands %s over as a content block behind words about it",
    async (path, content, mimeType, type, kind) => {
      const data = Buffer.from(content, "latin1").toString("base64");
      expect(await readBytes(path, content, mimeType)).toEqual([
        { type: "text", text: `'${path}': ${kind}, ${mimeType}, ${content.length} bytes` },
        { type, mimeType, data, metadata: { filename: path.slice(1) } },
      ]);
    },
  );

  it.each([
    ["nothing", "/a.png", "", "image/png", "image, image/png, 0 bytes. It is empty."],
    [
      "half a picture",
      "/a.png",
      PNG.slice(0, 20),
      "image/png",
      "image, image/png, 20 bytes. It is damaged: part of it is missing or broken.",
    ],
    [
      "what is no picture",
      "/a.png",
      "\0\x01",
      "application/octet-stream",
      "binary, application/octet-stream, 2 bytes. Its content is not what its name says (image/png).",
    ],
    [
      "an archive",
      "/a.zip",
      "PK\x03\x04",
      "application/zip",
      "binary, application/zip, 4 bytes. Its content cannot be shown here.",
    ],
    [
      "too large a film",
      "/a.mp4",
      `\0\0\0\x20ftypisom${"\0".repeat(10_500_000)}`,
      "video/mp4",
      "video, video/mp4, 10500012 bytes. It is larger than the 10485760 bytes that can be shown.",
    ],
  ])("describes %s in words", async (_name, path, content, mimeType, expected) => {
    expect(await readBytes(path, content, mimeType)).toBe(`'${path}' is not text: ${expected}`);
  });

  it("says that only the beginning of an enormous line came", async () => {
    const page = {
      content: "x",
      mimeType: "text/plain",
      startLine: 1,
      endLine: 1,
      size: 99,
      truncated: true,
    };
    const tools = toolsWith({}, () => ({ read: () => page }) as unknown as BackendProtocol);
    const { answers } = await run([[["read_file", { file_path: "/f" }]]], {}, tools);
    expect(answers[0]?.content).toBe(
      "     1│x\n[Lines 1-1 of a file of 99 bytes: the end. Line 1 is too long: only its beginning can be read]",
    );
  });

  it("accepts for edit_file what read_file has shown of a CRLF file", async () => {
    const { files, answers } = await run(
      [
        [["read_file", { file_path: "/crlf" }]],
        [["edit_file", { file_path: "/crlf", old_string: "two\nthree", new_string: "2\n3\n4" }]],
      ],
      { "/crlf": "one\r\ntwo\r\nthree\r\nfive\r\n" },
    );
    expect(answers[0]?.content).toBe("     1│one\n     2│two\n     3│three\n     4│five");
    expect(files).toEqual({ "/crlf": "one\r\n2\r\n3\r\n4\r\nfive\r\n" });
  });

  it("lands parallel edits of one file in one turn, each answered", async () => {
    // LangGraph warns of more than ten nodes of this kind in one step.
    const lines = Array.from({ length: 10 }, (_, index) => `item ${index}.`);
    const edits = lines.map(
      (_, index): Call => [
        "edit_file",
        { file_path: "/list", old_string: `item ${index}.`, new_string: `done ${index}.` },
      ],
    );
    const { files, answers } = await run([edits], { "/list": lines.join("\n") });
    expect(answers.every((answer) => answer.status === "success")).toBe(true);
    expect(files["/list"]).toBe(lines.map((line) => line.replace("item", "done")).join("\n"));
  });

  it("returns the changes of an older backend as a command", async () => {
    const state = { files: { "/a": { content: "a", created_at: "t", modified_at: "t" } } };
    const tools = toolsWith({ backend: () => new StateBackend({ state }) });
    const answer = (await tools.get("edit_file")?.invoke(
      {
        name: "edit_file",
        id: "1",
        type: "tool_call",
        args: { file_path: "/a", old_string: "a", new_string: "b" },
      } as never,
      {
        toolCallId: "1",
      } as never,
    )) as unknown as Command;
    expect(answer).toBeInstanceOf(Command);
    expect(answer.update).toMatchObject({
      files: { "/a": { content: "b" } },
      messages: [{ tool_call_id: "1", content: "Successfully replaced 1 occurrence(s) in '/a'" }],
    });
  });

  it("gives a factory's StateBackend the task it runs in", async () => {
    const { files } = await run(
      [
        [
          ["write_file", { file_path: "/a", content: "a" }],
          ["write_file", { file_path: "/b", content: "b" }],
        ],
      ],
      {},
      toolsWith({}, (runtime) => new StateBackend({ ...runtime, state: runtime.state ?? {} })),
    );
    expect(files).toEqual({ "/a": "a", "/b": "b" });
  });

  it("can be called by hand", async () => {
    const state = { files: { "/a": { content: "a" } } };
    const read = toolsWith().get("read_file") as BuiltInTool;
    expect(await read.invoke({ file_path: "/a" }, { state } as never)).toBe("     1│a");
    expect(await read.invoke({ file_path: "/b" }, { state } as never)).toMatchObject({ status: "error" });
  });

  it("lets a stop through instead of answering it", async () => {
    const state = { files: {} };
    const write = toolsWith().get("write_file") as BuiltInTool;
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(write.invoke({ file_path: "/a", content: "" }, { state, signal } as never)).rejects.toThrow(
      "stopped",
    );
  });
});
