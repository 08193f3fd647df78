// Turns terminal output (ANSI colours) on stdin into an SVG on stdout:
//   script -qec 'npm start --silent -- "Describe this project"' /dev/null | node scripts/terminal-picture.mjs "npm start -- …"
import { text } from "node:stream/consumers";

const COLOURS = {
  30: "#3b4252",
  31: "#e06c75",
  32: "#98c379",
  33: "#e5c07b",
  34: "#61afef",
  35: "#c678dd",
  36: "#56b6c2",
  37: "#dcdfe4",
  90: "#7f848e",
};
const WIDTH = 120;
const LINE = 18;
const ESC = String.fromCharCode(27);
const SGR = new RegExp(`(${ESC}\\[[0-9;]*m)`);
const CODES = new RegExp(`^${ESC}\\[([0-9;]*)m$`);
const xml = (value) => value.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

/** Spans of one colour each, wrapped at the width of the picture. */
function* spans(output) {
  let style = {};
  for (const part of output.replace(/\r/g, "").split(SGR)) {
    const codes = CODES.exec(part);
    if (!codes) yield { text: part, ...style };
    else
      for (const code of codes[1].split(";").map(Number)) {
        if (code === 0) style = {};
        else if (code === 1) style = { ...style, bold: true };
        else if (code === 2) style = { ...style, dim: true };
        else if (code === 22) style = { ...style, bold: false, dim: false };
        else if (code === 39) style = { ...style, fill: undefined };
        else if (COLOURS[code]) style = { ...style, fill: COLOURS[code] };
      }
  }
}

function lines(output) {
  const rows = [[]];
  let column = 0;
  for (const span of spans(output))
    for (const [i, piece] of span.text.split("\n").entries()) {
      if (i > 0) {
        rows.push([]);
        column = 0;
      }
      for (let rest = piece; rest !== ""; ) {
        if (column >= WIDTH) {
          rows.push([]);
          column = 0;
        }
        const fitting = rest.slice(0, WIDTH - column);
        rows.at(-1).push({ ...span, text: fitting });
        column += fitting.length;
        rest = rest.slice(fitting.length);
      }
    }
  return rows;
}

function row(spans, i) {
  const body = spans
    .map(({ text, fill = "#dcdfe4", bold, dim }) => {
      const weight = bold ? ' font-weight="bold"' : "";
      const opacity = dim ? ' opacity="0.65"' : "";
      return `<tspan fill="${fill}"${weight}${opacity}>${xml(text)}</tspan>`;
    })
    .join("");
  return `<text x="20" y="${62 + i * LINE}" xml:space="preserve">${body}</text>`;
}

const output = (await text(process.stdin)).trimEnd();
const rows = [[{ text: "$ ", fill: "#98c379" }, { text: process.argv[2] ?? "" }], ...lines(output)];
const height = 74 + rows.length * LINE;
const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
  (fill, i) => `<circle cx="${22 + i * 20}" cy="22" r="6" fill="${fill}"/>`,
);
console.log(`<svg xmlns="http://www.w3.org/2000/svg" width="985" height="${height}" viewBox="0 0 985 ${height}" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13">
<title>${xml(process.argv[2] ?? "terminal")}</title>
<rect width="985" height="${height}" rx="10" fill="#282c34"/>
${dots.join("")}
${rows.map(row).join("\n")}
</svg>`);
