import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { answerIn, commandOf, encodeValue } from "./command.ts";

const CALL = "00112233445566778899aabbccddeeff";

describe("commandOf", () => {
  it.each([
    "'; touch pwned; '",
    "$(touch pwned)",
    "`touch pwned`",
    "a\nb\n\n",
    "-rf",
    "*",
    "%s%n\\0101\\c",
    '"$HOME"',
    "é 你 🙂",
    "",
    "!history",
  ])("%j reaches the script as it is", (value) => {
    expect(encodeValue(value)).toMatch(/^(?:[\w./-]|\\0[0-7]{3})*$/);
    const script = `value=$(printf '%bx' "$2"); printf '%s' "\${value%x}"`;
    for (const shell of ["/bin/sh", "bash"])
      expect(execFileSync(shell, ["-c", commandOf(script, CALL, [value])]).toString("utf8")).toBe(value);
  });

  it("passes bytes that are no text", () => {
    const command = commandOf(`printf '%b' "$2"`, CALL, [Uint8Array.of(0xff, 0xfe, 0x0a, 0x27)]);
    expect([...execFileSync("/bin/sh", ["-c", command])]).toEqual([0xff, 0xfe, 0x0a, 0x27]);
  });
});

describe("answerIn", () => {
  const answer = (body: string): string => `dw:${CALL}:64:data\n${body}\n\ndw:${CALL}:end\n`;

  it("finds the answer among banners, and with the line ends of a terminal", () => {
    const output = `Welcome!\n${answer("aGVs\nbG8=")}bye`;
    for (const text of [output, output.replaceAll("\n", "\r\n")])
      expect(answerIn(text, CALL)).toEqual({ kind: "data", bytes: Buffer.from("hello") });
  });

  it("reads hexadecimal as `od` prints it", () => {
    const output = `dw:${CALL}:16:file\n 2f 61\n 62\n\ndw:${CALL}:end`;
    expect(answerIn(output, CALL)).toEqual({ kind: "file", directory: "/ab" });
  });

  it.each([
    ["the end is missing", `dw:${CALL}:64:data\naGVs`, true],
    ["the middle is missing", answer("aGVs\n[…]\nbG8="), true],
    ["a digit is missing", answer("aGVsbG8"), true],
    ["it is another call's", answer("aGVs").replaceAll(CALL, "0".repeat(32)), false],
    ["the command was echoed", commandOf("true", CALL, ["x"]), false],
    ["there is nothing", "", false],
  ])("has none where %s", (_, output, begun) => {
    expect(answerIn(output, CALL)).toEqual({ kind: "none", begun });
  });
});
