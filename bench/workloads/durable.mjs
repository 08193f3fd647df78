/** A thread of many turns with the saver a user of each package would take: ours for ours, the stock one. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { load, runConfig } from "./contender.mjs";
import { cpuNow, timed } from "./cpu.mjs";
import { openSaverOf, storedSize } from "./savers.mjs";
import {
  ask,
  benchModel,
  checkRun,
  checkSmallTurns,
  editTurns,
  makeFiles,
  smallTurns,
  yielding,
} from "./script.mjs";

export async function measure(contender, params) {
  const { turns, saver: kind, files = 0, fileBytes = 0, early, late, yields = false } = params;
  const { create } = await load(contender);
  const { saver, written, size, close } = await openSaverOf(contender, kind);
  const marks = [];
  const mark = early ? () => marks.push(cpuNow()) : () => {};
  const script = files > 0 ? editTurns(turns, files) : smallTurns(turns, mark);
  const agent = create({ model: benchModel(yields ? yielding(script) : script), checkpointer: saver });
  const given = makeFiles(files, fileBytes);
  const input = files > 0 ? { ...ask("Begin."), files: given } : ask("Begin.");
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const { result, cpu, wall } = await timed(() => agent.invoke(input, runConfig("bench")));
  delay.disable();
  const rss = process.memoryUsage().rss / 2 ** 20;
  if (files > 0) checkRun(result, turns);
  else checkSmallTurns(result, turns);
  const bytes = await written();
  const metrics = {
    cpu: cpu / turns,
    wall: wall / turns,
    rss,
    stall: delay.max / 1e6,
    megabytes: bytes / 1e6,
    amplification: bytes / (await newsOf(result, turns, files)),
    storedMegabytes: (await size()) / 1e6,
  };
  if (early) metrics.growth = mean(marks, late) / mean(marks, early);
  await close();
  return metrics;
}

function mean(marks, [from, to]) {
  return (marks[to] - marks[from]) / (to - from);
}

/** Final messages, and every version of every file once: the last versions are in the state. */
async function newsOf(result, turns, files) {
  const versions = files > 0 ? turns : Math.floor((turns + 1) / 3);
  const file = Object.values(result.files)[0];
  return (await storedSize(result)) + versions * JSON.stringify(file).length;
}
