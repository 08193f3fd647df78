import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type Input, taskText } from "./task-text.ts";

function stdin(text: string, isTTY = false): Input {
  const bytes = Buffer.from(text);
  const pieces = [...bytes].map((byte) => Buffer.from([byte]));
  return Object.assign(Readable.from(pieces), { isTTY }) as unknown as Input;
}

describe("taskText", () => {
  it.each([
    ["words typed", ["fix", "the", "bug"], "ignored", false, "fix the bug"],
    ["- reads stdin", ["-"], " piped täsk 👍\n", false, "piped täsk 👍"],
    ["a pipe without a task", [], "piped", false, "piped"],
  ])("%s", async (_, words, piped, isTTY, task) => {
    expect(await taskText(words, stdin(piped, isTTY))).toBe(task);
  });

  it.each([
    ["nothing typed at a keyboard", [], "", true],
    ["an empty pipe", [], " \n", false],
    ["- and an empty pipe", ["-"], "", false],
    ["only spaces, at a keyboard", ["  "], "", true],
  ])("%s is wrong usage", async (_, words, piped, isTTY) => {
    await expect(taskText(words, stdin(piped, isTTY))).rejects.toMatchObject({ exitCode: 2 });
  });
});
