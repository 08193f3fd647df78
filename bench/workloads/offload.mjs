/** Results of a tool that are too large for any window: they must go to files, and the thread stays small. */
import { tool } from "@langchain/core/tools";
import { callTool, say } from "deepwright/testing";
import { z } from "zod";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { openSaverOf } from "./savers.mjs";
import { ask, benchModel } from "./script.mjs";

/** `first` is the first run in the process, the others are medians of all `runs`. */
export async function measure(contender, { megabytes, results, runs = 1, saver: kind = "none" }) {
  const { create } = await load(contender);
  await run(create, { contender, kind: "none", results: 2, megabytes: 0.5 });
  const all = [];
  for (let i = 0; i < runs; i += 1) all.push(await run(create, { contender, kind, results, megabytes }));
  const middle = (metric) => all.map((one) => one[metric]).sort((a, b) => a - b)[Math.floor(runs / 2)];
  return { cpu: middle("cpu"), wall: middle("wall"), first: all[0].cpu, megabytes: all[0].bytes / 1e6 };
}

async function run(create, { contender, kind, results, megabytes }) {
  const { saver, written, close } =
    kind === "none" ? { written: async () => 0, close() {} } : await openSaverOf(contender, kind);
  const texts = Array.from({ length: results }, (_, number) => report(megabytes, number));
  const fetchReport = tool(({ number }) => texts[number], {
    name: "fetch_report",
    description: "Fetches a report.",
    schema: z.object({ number: z.number() }),
  });
  const script = ({ turn }) => (turn < results ? callTool("fetch_report", { number: turn }) : say("Done."));
  const agent = create({ model: benchModel(script), tools: [fetchReport], checkpointer: saver });
  const config = runConfig(saver && "bench");
  const { result, cpu, wall } = await timed(() => agent.invoke(ask("Begin."), config));
  check(result, texts);
  const bytes = await written();
  await close();
  return { cpu, wall, bytes };
}

function check({ messages, files }, texts) {
  const { length } = texts[0];
  const kept = Object.values(files).filter((file) => [file.content].flat().join("\n").length >= length);
  const answers = messages.filter((message) => message.type === "tool");
  if (kept.length !== texts.length || answers.length !== texts.length)
    throw new Error(`Expected ${texts.length} results in files, found ${kept.length}.`);
  const large = answers.find((message) => message.text.length > length / 4);
  if (large !== undefined) throw new Error("A large result stayed in the thread.");
}

/** One flat string, as what comes from a socket or a file is, and no garbage that a run would have to collect. */
function report(megabytes, number) {
  const lines = Math.ceil((megabytes * 1e6) / 80);
  const bytes = Buffer.alloc(lines * 80, "x");
  for (let i = 0; i < lines; i += 1) {
    bytes.write(`line ${i} of report ${number} `, i * 80, "latin1");
    bytes[i * 80 + 79] = 0x0a;
  }
  return bytes.toString("latin1");
}
