/**
 * Runs a session of the terminal app with the offline model and writes what the terminal shows as an SVG:
 *   node --import tsx --conditions=source scripts/terminal-picture.ts docs/images/app.svg
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import headless, { type IBufferCell, type IBufferLine } from "@xterm/headless";

const COLUMNS = 100;
const ROWS = 32;
const FRAME_SECONDS = 4;
const LINE = 18;
const CELL = 7.83;
const TOP = 62;
const LEFT = 20;
const INK = "#dcdfe4";
const PAPER = "#282c34";
const ANSI = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", INK];
const FILES = {
  "README.md": "# Shop\n\nA small shop: a basket, prices, and a page.\n",
  "package.json": '{ "name": "shop", "main": "src/basket.ts" }\n',
  "src/basket.ts": "// TODO: prices in cents\nexport const basket: string[] = [];\n",
};

interface Span {
  text: string;
  readonly column: number;
  readonly style: string;
}

type Frame = readonly (readonly Span[])[];

/** What the terminal shows when a person has typed a task, is asked about a file, and at the end. */
async function session(): Promise<readonly Frame[]> {
  const home = await mkdtemp(join(tmpdir(), "deepwright-picture-"));
  const task = "Summarise this project in report.md";
  try {
    await mkdir(join(home, "shop/src"), { recursive: true });
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(home, "shop", name), text);
    const app = startApp(home);
    await app.press("offline model, not an LLM", task);
    const typed = await app.frameWith(task);
    await app.press(task, "\r");
    const asked = await app.frameWith("yes, run it");
    await app.press("yes, run it", "y");
    const done = await app.frameWith("✔ done");
    await app.press("✔ done", "\x03");
    await app.press("Ctrl-C again leaves", "\x03");
    await app.ended;
    return [typed, asked, done];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The app in a terminal that `script` of util-linux makes. */
function startApp(home: string) {
  const tsx = import.meta.resolve("tsx");
  const main = fileURLToPath(new URL("../packages/cli/src/main.ts", import.meta.url));
  const program = `"${process.execPath}" --import "${tsx}" --conditions=source "${main}" --model offline --theme dark`;
  const child = spawn(
    "script",
    ["-qfec", `stty cols ${COLUMNS} rows ${ROWS}; exec ${program}`, "/dev/null"],
    {
      cwd: join(home, "shop"),
      env: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const view = new headless.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  child.stdout.on("data", (data: Buffer) => view.write(data));
  const ended = new Promise((resolve) => child.on("close", resolve));
  const rows = (): readonly (IBufferLine | undefined)[] => {
    const { active } = view.buffer;
    return Array.from({ length: ROWS }, (_, row) => active.getLine(active.baseY + row));
  };
  const shown = (): string =>
    rows()
      .map((line) => line?.translateToString())
      .join("\n");
  /** Waits for a text on the screen and a moment longer, as questions take no answer at once. */
  const sees = async (text: string): Promise<void> => {
    while (!shown().includes(text)) {
      if (child.exitCode !== null) throw new Error(`It ended without '${text}':\n${shown()}`);
      await setTimeout(20);
    }
    await setTimeout(600);
  };
  const press = async (text: string, keys: string): Promise<void> => {
    await sees(text);
    child.stdin.write(keys);
  };
  const frameWith = async (text: string): Promise<Frame> => {
    await sees(text);
    return rows().map((line) => (line ? spansOf(line) : []));
  };
  return { press, frameWith, ended };
}

/** Runs of cells with the same style. */
function spansOf(line: IBufferLine): readonly Span[] {
  const spans: Span[] = [];
  for (let column = 0; column < line.length; column++) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    const last = spans.at(-1);
    if (last?.style === style) last.text += cell.getChars() || " ";
    else spans.push({ text: cell.getChars() || " ", column, style });
  }
  return spans.filter(({ text }) => text.trim() !== "");
}

function styleOf(cell: IBufferCell): string {
  const fill = cell.isInverse() ? PAPER : colourOf(cell);
  const weight = cell.isBold() ? ' font-weight="bold"' : "";
  const slant = cell.isItalic() ? ' font-style="italic"' : "";
  return `fill="${fill}"${weight}${slant}${cell.isDim() ? ' opacity="0.65"' : ""}`;
}

function colourOf(cell: IBufferCell): string {
  const colour = cell.getFgColor();
  if (cell.isFgDefault()) return INK;
  if (cell.isFgRGB()) return hex(colour >> 16, (colour >> 8) & 255, colour & 255);
  if (colour < 16) return ANSI[colour % 8] ?? INK;
  if (colour >= 232) return grey(8 + (colour - 232) * 10);
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const index = colour - 16;
  return hex(level(Math.floor(index / 36)), level(Math.floor(index / 6) % 6), level(index % 6));
}

function grey(level: number): string {
  return hex(level, level, level);
}

function hex(...parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function xml(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Every span stands at its column, so that fonts of other widths do not shift what follows. */
function textsOf(frame: Frame): string {
  const texts = frame.flatMap((row, index) =>
    row.map(({ text, column, style }) => {
      const shown = text.trim();
      const x = (LEFT + (column + text.indexOf(shown)) * CELL).toFixed(1);
      const length = (shown.length * CELL).toFixed(1);
      return `<text x="${x}" y="${TOP + index * LINE}" textLength="${length}" lengthAdjust="spacingAndGlyphs" ${style}>${xml(shown)}</text>`;
    }),
  );
  return texts.join("\n");
}

/** The frames follow each other without end. A viewer without animation shows the last one. */
function svgOf(frames: readonly Frame[]): string {
  const width = Math.ceil(2 * LEFT + COLUMNS * CELL);
  const height = TOP + ROWS * LINE;
  const share = 100 / frames.length;
  const seconds = frames.length * FRAME_SECONDS;
  const styles = frames.map((_, index) => {
    const [from, to] = [index * share, (index + 1) * share].map((part) => part.toFixed(2));
    return `@keyframes f${index}{0%{opacity:${index === 0 ? 1 : 0}}${from}%{opacity:1}${to}%{opacity:${index + 1 === frames.length ? 1 : 0}}}
#f${index}{opacity:${index + 1 === frames.length ? 1 : 0};animation:f${index} ${seconds}s step-end infinite}`;
  });
  const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
    (fill, index) => `<circle cx="${22 + index * 20}" cy="22" r="6" fill="${fill}"/>`,
  );
  const groups = frames.map((frame, index) => `<g id="f${index}">\n${textsOf(frame)}\n</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13">
<title>A session of the terminal app with the offline model</title>
<style>text{white-space:pre}
${styles.join("\n")}
@media (prefers-reduced-motion:reduce){g{animation:none!important}}</style>
<rect width="${width}" height="${height}" rx="10" fill="${PAPER}"/>
${[...dots, ...groups].join("\n")}
</svg>
`;
}

const [, , target = "docs/images/app.svg"] = process.argv;
await writeFile(target, svgOf(await session()));
