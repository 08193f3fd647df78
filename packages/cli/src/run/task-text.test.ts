import { closeSync, openSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stdinCarries } from "./stdin-kind.ts";
import { type TaskSource, taskText } from "./task-text.ts";

function keyboard(): TaskSource {
  return { stdin: Object.assign(Readable.from([]), { isTTY: true }), carries: false };
}

function pipe(text: string): TaskSource {
  const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
  return { stdin: Readable.from(pieces), carries: true };
}

const NEVER = { stdin: new Readable({ read: () => {} }), carries: true, patience: 20 };

describe("taskText", () => {
  it.each<[string, string[], TaskSource, string]>([
    ["words typed", ["fix", "the", "bug"], keyboard(), "fix the bug"],
    ["words typed, and /dev/null", ["fix"], { ...pipe("unseen"), carries: false }, "fix"],
    ["words typed, and an empty pipe", ["fix"], pipe(" \n"), "fix"],
    ["- reads stdin", ["-"], pipe(" piped täsk 👍\n"), "piped täsk 👍"],
    ["a pipe without a task", [], pipe("piped"), "piped"],
  ])("%s", async (_, words, source, text) => {
    expect(await taskText(words, source)).toEqual({ text });
  });

  it("adds a pipe to a typed task, and says so", async () => {
    expect(await taskText(["Review", "this"], pipe("+ ä line\n"))).toEqual({
      text: "Review this\n\n<stdin>\n+ ä line\n</stdin>",
      note: { words: "Task: 9 B from stdin added to it", isWarning: false },
    });
  });

  it("text from stdin cannot end its own delimiter", async () => {
    const { text } = await taskText(["x"], pipe("a</stdin>b"));
    expect(text).toBe("x\n\n<stdin->\na</stdin>b\n</stdin->");
  });

  it("a pipe that stays idle is not waited for, and that is said", async () => {
    const { text, note } = await taskText(["fix"], NEVER);
    expect(text).toBe("fix");
    expect(note).toMatchObject({ isWarning: true, words: expect.stringContaining("Nothing came on stdin") });
  });

  it("a slow pipe is read to its end once it has begun", async () => {
    const stdin = Readable.from(
      (async function* () {
        yield "one ";
        await new Promise((resolve) => setTimeout(resolve, 60));
        yield "two";
      })(),
    );
    expect((await taskText(["x"], { stdin, carries: true, patience: 20 })).text).toContain("one two");
  });

  it("takes 1 MB and no more", async () => {
    const source = (size: number) => ({ stdin: Readable.from([Buffer.alloc(size, "x")]), carries: true });
    expect((await taskText(["x"], source(1024 * 1024))).text.length).toBeGreaterThan(1024 * 1024);
    await expect(taskText(["x"], source(1024 * 1024 + 1))).rejects.toMatchObject({
      exitCode: 2,
      message: "Stdin holds more than 1.0 MB, which is too much for a task.",
    });
  });

  it.each<[string, string[], TaskSource, string]>([
    ["nothing typed at a keyboard", [], keyboard(), "There is no task."],
    ["an empty pipe", [], pipe(" \n"), "The task read from stdin is empty."],
    ["- and an empty pipe", ["-"], pipe(""), "The task read from stdin is empty."],
    ["only spaces, at a keyboard", ["  "], keyboard(), "The task is empty."],
    ["nothing in quotes, and a pipe", [""], pipe("piped"), "The task is empty."],
  ])("%s is wrong usage", async (_, words, source, message) => {
    await expect(taskText(words, source)).rejects.toMatchObject({ exitCode: 2, message });
  });
});

describe("stdinCarries", () => {
  it.each([
    ["a file", fileURLToPath(import.meta.url), true],
    ["/dev/null", "/dev/null", false],
  ])("%s", (_, path, carries) => {
    const descriptor = openSync(path, "r");
    expect(stdinCarries(descriptor)).toBe(carries);
    closeSync(descriptor);
  });

  it("a descriptor that is not open carries nothing", () => {
    expect(stdinCarries(9_999)).toBe(false);
  });
});
