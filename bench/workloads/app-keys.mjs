/** Wall milliseconds from a key to its letter on the screen while the agent and sixteen subagents stream. */
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { appFromSource, optionsOf, sessionOf } from "./app-parts.mjs";

const SUBAGENTS = 16;
/** Pieces of each agent arrive that often. */
const EVENTS_MS = 20;
const BETWEEN_KEYS_MS = 35;
const LINE = 40;

export async function measure(_contender, { keys }) {
  const { App, emptyScreen, foldEvents } = await appFromSource();
  let drawn = "";
  const stdin = new PassThrough();
  const app = new App(
    optionsOf((text) => {
      drawn = text;
      waiting?.(text);
    }, stdin),
  );
  let waiting;
  app.session = sessionOf(emptyScreen);
  app.keyboard.open();
  const stop = stream(app, foldEvents, emptyScreen);
  const walls = [];
  for (let index = 0; index < keys; index += 1) {
    if (index % LINE === 0) app.editor.text = "";
    const letter = String.fromCharCode(97 + (index % 26));
    const row = `${app.editor.text}${letter}`;
    const start = performance.now();
    const seen = new Promise((resolve) => {
      waiting = (text) => text.includes(row) && resolve();
    });
    stdin.write(letter);
    await seen;
    walls.push(performance.now() - start);
    await sleep(BETWEEN_KEYS_MS);
  }
  stop();
  app.keyboard.close();
  app.driver.close();
  if (Object.keys(app.session.screen.subagents).length !== SUBAGENTS || drawn === "")
    throw new Error("The subagents did not stream.");
  walls.sort((a, b) => a - b);
  return { median: walls[Math.floor(keys / 2)], p99: walls[Math.ceil(keys * 0.99) - 1] };
}

/** A word for every agent at once, and a new message after some. Returns a function that ends it. */
function stream(app, foldEvents, screen) {
  let turn = 0;
  const places = ["", ...Array.from({ length: SUBAGENTS }, (_, index) => `|tools:task-${index}`)];
  const timer = setInterval(() => {
    turn += 1;
    const id = `m${Math.floor(turn / 100)}`;
    const events = places.map((place) => ({
      event: `messages${place}`,
      data: [
        { type: "AIMessageChunk", id: `${place}${id}`, content: `word${turn} `, tool_call_chunks: [] },
        {},
      ],
    }));
    screen = foldEvents(screen, events);
    app.session.screen = screen;
    app.changed();
  }, EVENTS_MS);
  return () => clearInterval(timer);
}
