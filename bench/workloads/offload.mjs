/** Results of a tool that are too large for any window: they must go to files, and the thread stays small. */
import { tool } from "@langchain/core/tools";
import { callTool, say } from "deepwright/testing";
import { z } from "zod";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { openSaverOf } from "./savers.mjs";
import { ask, benchModel } from "./script.mjs";

/** Runs before the one that counts: the code of a first run is compiled at its cost, whatever it does. */
const WARM_UP = 8;

export async function measure(contender, { megabytes, results, saver: kind = "none" }) {
  // The first run after a collection is not like the others; of many results it is a small part.
  const times = results === 1 ? 9 : 1;
  const { create } = await load(contender);
  for (let i = 0; i < WARM_UP; i += 1)
    await run(create, { contender, kind, results: 2, texts: reports(0.5, 2) });
  const texts = reports(megabytes, results);
  globalThis.gc();
  const samples = [];
  for (let i = 0; i < times; i += 1) samples.push(await run(create, { contender, kind, results, texts }));
  const { cpu, wall, bytes } = samples.sort((a, b) => a.cpu - b.cpu)[times >> 1];
  return { cpu, wall, megabytes: bytes / 1e6 };
}

async function run(create, { contender, kind, results, texts }) {
  const { saver, written, close } =
    kind === "none" ? { written: async () => 0, close() {} } : await openSaverOf(contender, kind);
  const fetchReport = tool(({ number }) => texts[number], {
    name: "fetch_report",
    description: "Fetches a report.",
    schema: z.object({ number: z.number() }),
  });
  const script = ({ turn }) => (turn < results ? callTool("fetch_report", { number: turn }) : say("Done."));
  const agent = create({ model: benchModel(script), tools: [fetchReport], checkpointer: saver });
  const config = runConfig(saver && "bench");
  const { result, cpu, wall } = await timed(() => agent.invoke(ask("Begin."), config));
  check(result, results, texts[0]);
  const bytes = await written();
  await close();
  return { cpu, wall, bytes };
}

function check({ messages, files }, results, text) {
  const kept = Object.values(files).filter((file) => [file.content].flat().join("\n").length >= text.length);
  const answers = messages.filter((message) => message.type === "tool");
  if (kept.length !== results || answers.length !== results)
    throw new Error(`Expected ${results} results in files, found ${kept.length}.`);
  const large = answers.find((message) => message.text.length > text.length / 4);
  if (large !== undefined) throw new Error("A large result stayed in the thread.");
}

/** As a tool gets them from a disk or a network: joining their parts is not left to whoever reads them. */
function reports(megabytes, count) {
  const lines = Math.ceil((megabytes * 1e6) / 80);
  const text = Array.from({ length: lines }, (_, i) => `line ${i} of the report `.padEnd(79, "x")).join("\n");
  return Array.from({ length: count }, (_, i) => Buffer.from(`${i}: ${text}`).toString());
}
