/** Results of a tool that are too large for any window: they must go to files, and the thread stays small. */
import { tool } from "@langchain/core/tools";
import { callTool, say } from "deepwright/testing";
import { z } from "zod";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { openSaverOf } from "./savers.mjs";
import { ask, benchModel } from "./script.mjs";

export async function measure(contender, { megabytes, results, saver: kind = "none" }) {
  const { create } = await load(contender);
  await run(create, { contender, kind: "none", results: 2, text: report(0.5) });
  const { cpu, wall, bytes } = await run(create, { contender, kind, results, text: report(megabytes) });
  return { cpu, wall, megabytes: bytes / 1e6 };
}

async function run(create, { contender, kind, results, text }) {
  const { saver, written, close } =
    kind === "none" ? { written: async () => 0, close() {} } : await openSaverOf(contender, kind);
  const fetchReport = tool(({ number }) => `${number}: ${text}`, {
    name: "fetch_report",
    description: "Fetches a report.",
    schema: z.object({ number: z.number() }),
  });
  const script = ({ turn }) => (turn < results ? callTool("fetch_report", { number: turn }) : say("Done."));
  const agent = create({ model: benchModel(script), tools: [fetchReport], checkpointer: saver });
  const config = runConfig(saver && "bench");
  const { result, cpu, wall } = await timed(() => agent.invoke(ask("Begin."), config));
  check(result, results, text);
  const bytes = await written();
  await close();
  return { cpu, wall, bytes };
}

function check({ messages, files }, results, text) {
  const kept = Object.values(files).filter((file) => [file.content].flat().join("\n").length > text.length);
  const answers = messages.filter((message) => message.type === "tool");
  if (kept.length !== results || answers.length !== results)
    throw new Error(`Expected ${results} results in files, found ${kept.length}.`);
  const large = answers.find((message) => message.text.length > text.length / 4);
  if (large !== undefined) throw new Error("A large result stayed in the thread.");
}

function report(megabytes) {
  const lines = Math.ceil((megabytes * 1e6) / 80);
  return Array.from({ length: lines }, (_, i) => `line ${i} of the report `.padEnd(79, "x")).join("\n");
}
