import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { CARET, safeRow } from "./safe-rows.ts";
import { ScreenDriver } from "./screen-driver.ts";

/** A terminal without a window, and everything that was written to it. */
class Desk {
  readonly terminal: headless.Terminal;
  written = "";
  private last: Promise<void> = Promise.resolve();

  constructor(
    public columns: number,
    public rows: number,
  ) {
    this.terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: 50_000,
      allowProposedApi: true,
    });
  }

  write(text: string): void {
    this.written += text;
    this.last = new Promise((done) => this.terminal.write(text, done));
  }

  resize(columns: number, rows: number): void {
    [this.columns, this.rows] = [columns, rows];
    this.terminal.resize(columns, rows);
  }

  /** All lines there are, scrollback first; wrapped rows joined. */
  async lines(): Promise<string[]> {
    await this.last;
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (let index = 0; index < active.length; index++) {
      const line = active.getLine(index);
      if (line === undefined) continue;
      if (line.isWrapped) lines.push(`${lines.pop() ?? ""}${line.translateToString(true)}`);
      else lines.push(line.translateToString(true));
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }
}

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
  [200, 50],
] as const;

test.each(SIZES)("streamed lines appear once and in order at %i×%i", async (columns, rows) => {
  const desk = new Desk(columns, rows);
  let tail = "";
  const driver = new ScreenDriver(desk, (width) => [tail, "─".repeat(width), `> ${CARET}`, "status"]);
  const expected: string[] = [];
  for (let index = 0; index < 10_000; index++) {
    tail = `writing ${index}`;
    if (index % 7 === 0) driver.frame();
    const line = `line ${index}`;
    expected.push(line);
    driver.commit([line]);
  }
  driver.frame();
  const lines = await desk.lines();
  expect(lines.slice(0, -4)).toEqual(expected);
  expect(lines.slice(-4)).toEqual(["writing 9999", "─".repeat(columns), ">", "status"]);
  for (const sequence of ["[2J", "[3J", "[?1049h", "[?47h", "[?1047h"])
    expect(desk.written).not.toContain(`\x1b${sequence}`);
});

test("a resize in the middle loses nothing and repeats nothing", async () => {
  const desk = new Desk(100, 30);
  let tail: string[] = [];
  const driver = new ScreenDriver(desk, (width, rows) => [
    ...tail.slice(-(rows - 3)),
    "─".repeat(width),
    `> typed text${CARET}`,
    "model · directory",
  ]);
  const sizes = [
    [60, 20],
    [120, 40],
    [80, 24],
    [45, 24],
    [200, 50],
    [60, 21],
  ] as const;
  const expected: string[] = [];
  for (let index = 0; index < 600; index++) {
    const size = sizes[Math.floor(index / 100)];
    if (index % 100 === 50 && size) desk.resize(size[0], size[1]);
    tail = [`half a line ${index}`, "and its next row"];
    driver.frame();
    expected.push(`row number ${index}`);
    driver.commit([`row number ${index}`]);
    driver.frame();
    await desk.lines();
  }
  const lines = await desk.lines();
  expect(lines.filter((line) => line.startsWith("row number"))).toEqual(expected);
  expect(lines.filter((line) => line.startsWith("half a line"))).toEqual(["half a line 599"]);
  expect(lines.filter((line) => line.startsWith("> typed"))).toHaveLength(1);
});

test("the live region grows and shrinks in place, and only changed rows are written", async () => {
  const desk = new Desk(40, 10);
  let rows = ["one", "two"];
  const driver = new ScreenDriver(desk, () => rows);
  driver.commit(["before"]);
  driver.frame();
  rows = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
  driver.frame();
  expect(await desk.lines()).toEqual(["before", ...rows]);
  desk.written = "";
  rows = rows.with(1, "TWO");
  driver.frame();
  expect(desk.written).toContain("TWO");
  expect(desk.written).not.toContain("three");
  rows = ["last"];
  driver.frame();
  expect(await desk.lines()).toEqual(["before", "last"]);
  desk.written = "";
  driver.frame();
  expect(desk.written).toBe("");
});

test("a region taller than the terminal shows its end and leaves the scrollback alone", async () => {
  const desk = new Desk(40, 10);
  let count = 30;
  const driver = new ScreenDriver(desk, () => Array.from({ length: count }, (_, index) => `row ${index}`));
  driver.commit(["committed"]);
  driver.frame();
  for (count = 31; count < 60; count++) driver.frame();
  const lines = await desk.lines();
  expect(lines[0]).toBe("committed");
  expect(lines).toHaveLength(10);
});

test.each([
  ["wide characters", "日本語のテキスト"],
  ["emoji", "👩‍👩‍👧 family 🎉 🇩🇪"],
  ["combining marks", "e\u0301a\u0308 zalgo\u0334\u0335"],
  ["right to left", "שלום עולם مرحبا"],
])("%s do not break the frame", async (_, text) => {
  const desk = new Desk(20, 10);
  const driver = new ScreenDriver(desk, (width) => [
    `${text} ${text} ${text}`,
    "─".repeat(width),
    `${text}${CARET}`,
  ]);
  driver.commit([text.repeat(10)]);
  for (let index = 0; index < 5; index++) {
    driver.commit([`after ${index}`]);
    driver.frame();
  }
  const lines = await desk.lines();
  expect(lines.filter((line) => line === "─".repeat(20))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("after"))).toHaveLength(5);
});

test("the cursor stands at the caret", async () => {
  const desk = new Desk(40, 10);
  let text = "日本";
  const driver = new ScreenDriver(desk, () => ["top", `> ${text}${CARET} rest`, "bottom"]);
  driver.commit(["a", "b"]);
  driver.frame();
  await desk.lines();
  const cursor = () => [desk.terminal.buffer.active.cursorX, desk.terminal.buffer.active.cursorY];
  expect(cursor()).toEqual([6, 3]);
  text = "日本語";
  driver.frame();
  await desk.lines();
  expect(cursor()).toEqual([8, 3]);
});

test("nothing shown controls the terminal", async () => {
  const attacks = [
    "\x1b]0;title\x07",
    "\x1b[2J",
    "\x1b[3J\x1b[H",
    "\x1b]52;c;aGk=\x07",
    "\x9b2J",
    "a\rb",
    "\u202egnp.exe",
    "\x1b[?1049h",
    "\x1b_Gx\x1b\\",
  ];
  for (const attack of attacks) expect(safeRow(attack, 80)).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(safeRow("\x1b[1;31mred\x1b[0m", 80)).toBe("\x1b[1;31mred\x1b[0m");
});

test("pausing clears the region and resuming draws it below what was written meanwhile", async () => {
  const desk = new Desk(40, 10);
  const driver = new ScreenDriver(desk, () => ["live"]);
  driver.commit(["kept"]);
  driver.frame();
  driver.pause();
  desk.write("an editor was here\r\n");
  driver.resume();
  driver.frame();
  expect(await desk.lines()).toEqual(["kept", "an editor was here", "live"]);
});
