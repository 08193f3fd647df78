import { ToolInputParsingException } from "@langchain/core/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jsonSchemaDetail } from "./argument-words.ts";
import { failureWords, hideHost } from "./failure-words.ts";

const plain = { name: "t" };

describe("the words for what a tool threw", () => {
  test.each<[unknown, string]>([
    [new Error("no paper"), "Error: no paper"],
    [new TypeError(""), "Error: TypeError"],
    [new Error("outer", { cause: new Error("inner secret") }), "Error: outer"],
    ["just text", "Error: just text"],
    ["", "Error: The tool failed without giving a reason."],
    [undefined, "Error: The tool failed without giving a reason."],
    [null, "Error: The tool failed without giving a reason."],
    [() => "source code", "Error: The tool failed without giving a reason."],
    [404, "Error: 404"],
    [12n, "Error: 12"],
    [false, "Error: false"],
    [{ message: "in an object" }, "Error: in an object"],
    [{ code: 7 }, 'Error: {"code":7}'],
    [["a", "b"], 'Error: ["a","b"]'],
    [{ n: 1n }, "Error: The tool failed without giving a reason."],
  ])("%s", (error, words) => {
    expect(failureWords(error, plain, {})).toBe(words);
  });

  test("are cut when they are very long, and say how much is missing", () => {
    const words = failureWords(new Error("x".repeat(10_000)), plain, {});
    expect(words.length).toBeLessThan(4_100);
    expect(words).toMatch(/x… \(6000 characters more\)$/);
  });

  test("name the file of a system error without the directories it lies in", () => {
    const error = Object.assign(new Error("EACCES: rename '/data/a b/in.txt' -> '/data/c/out.txt'"), {
      syscall: "rename",
      path: "/data/a b/in.txt",
      dest: "/data/c/out.txt",
    });
    expect(failureWords(error, plain, {})).toBe("Error: EACCES: rename '…/in.txt' -> '…/out.txt'");
  });

  test("leave alone a path that no system call gave", () => {
    const error = Object.assign(new Error("File '/notes/a.md' not found"), { path: "/notes/a.md" });
    expect(failureWords(error, plain, {})).toBe("Error: File '/notes/a.md' not found");
  });
});

describe("host details in a text", () => {
  test.each([
    ["open '/home/ann/secret/key.pem'", "open '…/key.pem'"],
    ["(/Users/ann/app.js:3:9)", "(…/app.js:3:9)"],
    ["see file:///srv/app/index.js", "see …/index.js"],
    ["C:\\Users\\ann\\notes.txt is locked", "…/notes.txt is locked"],
    [`${process.cwd()}/src/index.ts failed`, "…/index.ts failed"],
    ["/tmp/a and /var/log/b", "…/a and …/b"],
    ["bad\n    at parse (/home/ann/x.js:1:1)\n    at node:internal/main:1:1", "bad"],
  ])("%s becomes %s", (text, hidden) => {
    expect(hideHost(text)).toBe(hidden);
  });

  test.each([
    "File '/src/app.ts' not found",
    "GET https://example.com/home/page failed",
    "see docs/usr/readme.md and ./tmp/x",
    "the ratio is 3/4, meet at noon",
    "/homework/chapter-1.md",
  ])("%s stays as it is", (text) => {
    expect(hideHost(text)).toBe(text);
  });
});

describe("the words for arguments that do not fit", () => {
  const schema = z.object({ amount: z.number(), to: z.object({ iban: z.string() }) });
  const jsonSchema = {
    type: "object",
    properties: { amount: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
    required: ["amount"],
  };

  async function refusal(given: z.ZodType, args: unknown): Promise<Error> {
    const { error } = await given.safeParseAsync(args);
    return new ToolInputParsingException(`Received tool input\n\n${z.prettifyError(error as never)}`);
  }

  test("a zod schema: each field with its problem, without LangChain's heading", async () => {
    const error = await refusal(schema, { amount: "5", to: {} });
    const words = failureWords(error, { name: "pay", schema }, {});
    expect(words).toMatch(/^Error: The arguments for tool 'pay' are not valid:\n/);
    expect(words).toMatch(/expected number.*\n.*amount/);
    expect(words).toMatch(/expected string.*\n.*to\.iban/);
    expect(words).not.toMatch(/Received tool input/);
    expect(words).toMatch(/Correct them and call it again\.$/);
  });

  test.each<[object, RegExp]>([
    [{}, /amount/],
    [{ amount: "5" }, /^- amount: .*number/],
    [{ amount: 5, tags: ["a", 1] }, /^- tags\/1: .*string/],
  ])("a JSON schema: %j", (args, words) => {
    expect(jsonSchemaDetail(jsonSchema, args)).toMatch(words);
    const error = new ToolInputParsingException("Received tool input did not match expected schema");
    expect(failureWords(error, { name: "pay", schema: jsonSchema }, args)).toMatch(/are not valid:\n- /);
  });

  test.each([
    ["arguments the schema has nothing against", jsonSchema, { amount: 1 }],
    ["a tool without a schema", undefined, {}],
    ["a schema that cannot be read", { $ref: "#/nowhere" }, {}],
  ])("a complaint of the tool itself about %s is passed on", (_, given, args) => {
    const error = new ToolInputParsingException("Only on Mondays.");
    const words = failureWords(error, { name: "pay", schema: given }, args);
    expect(words).toMatch(/'pay' are not valid:\nOnly on Mondays\.\n/);
  });

  test("a complaint without a report is passed on as it is", () => {
    const error = new ToolInputParsingException("Received tool input did not match expected schema");
    expect(failureWords(error, { name: "pay", schema }, {})).toMatch(/did not match expected schema/);
  });
});
