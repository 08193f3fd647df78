/** CPU of a frame of the terminal app at 120 × 40 while an answer in Markdown is streamed and eight subagents work. */
import { appFromSource, optionsOf, sessionOf } from "./app-parts.mjs";
import { timed } from "./cpu.mjs";

const WARM_UP = 100;
const PIECE = 40;
const PARAGRAPHS = [
  "## What changes\n\nThe basket keeps **prices in cents**, so that `sum` never rounds; see [the guide](https://example.com).\n\n",
  "- one item is a line\n- another is *longer* and goes on until it needs a second row in a terminal of a hundred and twenty columns\n\n",
  "```ts\nexport function sum(items: readonly Item[]): number {\n  return items.reduce((all, { cents }) => all + cents, 0);\n}\n```\n\n",
  "| file | change |\n|---|---|\n| basket.ts | cents |\n| page.ts | shows 日本語 and 🎉 |\n\n",
];

export async function measure(_contender, { frames }) {
  const { App, emptyScreen, foldEvents } = await appFromSource();
  const app = new App(optionsOf());
  app.session = sessionOf(emptyScreen);
  const screens = screensOf(frames + WARM_UP, emptyScreen, foldEvents);
  const draw = (screen) => {
    app.session.screen = screen;
    app.changed();
    app.driver.frame();
  };
  for (const screen of screens.slice(0, WARM_UP)) draw(screen);
  const walls = [];
  const { cpu } = await timed(() => {
    for (const screen of screens.slice(WARM_UP)) {
      const start = performance.now();
      draw(screen);
      walls.push(performance.now() - start);
    }
  });
  if (app.options.stdout.bytes < frames * PIECE) throw new Error("The frames were not written.");
  walls.sort((a, b) => a - b);
  return { cpu: cpu / frames, p99: walls[Math.floor(walls.length * 0.99)] };
}

/** A message of some paragraphs after the other, some characters a frame. */
function screensOf(count, emptyScreen, foldEvents) {
  const text = PARAGRAPHS.join("").repeat(3);
  const screens = [];
  let screen = emptyScreen;
  for (let message = 0; screens.length < count; message += 1)
    for (let index = 0; index < text.length && screens.length < count; index += PIECE) {
      const content = text.slice(index, index + PIECE);
      const data = [{ type: "AIMessageChunk", id: `m${message}`, content, tool_call_chunks: [] }, {}];
      screen = foldEvents(screen, [{ event: "messages", data }]);
      screens.push({ ...screen, subagents: subagents(screen.main, index) });
    }
  return screens;
}

function subagents(main, at) {
  const args = { file_path: `/src/part-${at}.ts` };
  const usage = { input: 1_000 + at, output: 10, total: 1_010 + at };
  const call = { id: "c", name: "read_file", args, status: "running" };
  const messages = [{ ...main.messages[0], id: "s", calls: [call], usage }];
  const agent = { ...main, name: "general-purpose", status: "running", messages };
  return Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`task-${index}`, agent]));
}
