/** Growth of the terminal app's heap by a thread of many messages that are streamed in small pieces. */
import { appFromSource, optionsOf, sessionOf } from "./app-parts.mjs";
import { heapAfterGc } from "./cpu.mjs";

/** Twenty minutes at 20 pieces a second are 12 pieces for each of 2,000 messages; the agent writes every second one. */
const PIECES = 12;
const SENTENCE = "The basket keeps **prices** in cents. ";
const SENTENCES = 6;
const WARM_UP = 20;
const PIECES_PER_FRAME = 10;

export async function measure(_contender, { messages }) {
  const { App, emptyScreen, foldEvents } = await appFromSource();
  const app = new App(optionsOf());
  app.session = sessionOf(emptyScreen);
  let screen = emptyScreen;
  let count = 0;
  const show = (event) => {
    screen = foldEvents(screen, [event]);
    app.session.screen = screen;
    app.changed();
    count += 1;
    if (count % PIECES_PER_FRAME === 0) app.driver.frame();
  };
  const stream = (from, to) => {
    for (let index = from; index < to; index += 1) {
      const message = { type: "human", id: `u${index}`, content: `Question ${index}` };
      if (index % 2 === 0) show({ event: "steer", data: { message } });
      else {
        let whole = "";
        for (let piece = 1; piece <= PIECES * 2; piece += 1) {
          const content = piece % SENTENCES === 0 ? `${SENTENCE}\n\n` : SENTENCE;
          whole += content;
          show({
            event: "messages",
            data: [{ type: "AIMessageChunk", id: `a${index}`, content, tool_call_chunks: [] }, {}],
          });
        }
        show({ event: "messages/complete", data: [{ type: "ai", id: `a${index}`, content: whole }] });
      }
    }
  };
  stream(0, WARM_UP);
  const before = heapAfterGc();
  stream(WARM_UP, messages + WARM_UP);
  app.driver.frame();
  const grown = heapAfterGc() - before;
  if (screen.main.messages.length < messages) throw new Error("The messages did not arrive.");
  app.driver.close();
  return { megabytes: grown / 1e6 };
}
