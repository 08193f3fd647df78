import { describe, expect, it } from "vitest";
import { Console } from "./console.ts";

function outputs(isTTY: boolean) {
  const written = { stdout: "", stderr: "" };
  const to = (name: keyof typeof written) => ({
    isTTY,
    columns: 80,
    write: (text: string) => {
      written[name] += text;
    },
  });
  return { written, stdout: to("stdout"), stderr: to("stderr") };
}

describe("Console", () => {
  it.each([
    ["a terminal", true, {}, true],
    ["no terminal", false, {}, false],
    ["NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["FORCE_COLOR without a terminal", false, { FORCE_COLOR: "1" }, false],
    ["a terminal that cannot", true, { TERM: "dumb" }, false],
  ])("%s decides about colours (TI-03)", (_, isTTY, environment, coloured) => {
    const { written, stdout, stderr } = outputs(isTTY);
    const console = new Console(stdout, stderr, environment);
    console.line(console.colours.red("stop"));
    expect(written.stderr.includes("\x1b")).toBe(coloured);
  });

  it("never colours stdout, and never lets a control byte of the model through (TI-01)", () => {
    const { written, stdout, stderr } = outputs(true);
    const console = new Console(stdout, stderr, {});
    for (const piece of ["Hi \x1b[3", "1m\x9b2J", "\rthere\u202e"]) console.text(piece);
    console.endText();
    expect(written.stdout).toBe("Hi \\x1b[31m\\x9b2J\\rthere\\u202e\n");
  });

  it("ends a line of the answer before a line of progress", () => {
    const { written, stdout, stderr } = outputs(false);
    const console = new Console(stdout, stderr, {});
    console.text("half a line");
    console.line("● ls /");
    console.text("more\n");
    console.line("● ls /");
    expect(written).toEqual({ stdout: "half a line\nmore\n", stderr: "● ls /\n● ls /\n" });
  });
});
