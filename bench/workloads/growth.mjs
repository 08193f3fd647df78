/** Whether turns get slower as the thread grows: late turns over early ones, in one run. */
import { load, runConfig } from "./contender.mjs";
import { cpuNow } from "./cpu.mjs";
import { ask, benchModel, checkSmallTurns, smallTurns } from "./script.mjs";

export async function measure(contender, { turns, early, late }) {
  const { create } = await load(contender);
  const marks = [];
  const agent = create({ model: benchModel(smallTurns(turns, () => marks.push(cpuNow()))) });
  checkSmallTurns(await agent.invoke(ask("Begin."), runConfig()), turns);
  const mean = ([from, to]) => (marks[to] - marks[from]) / (to - from);
  return { growth: mean(late) / mean(early), earlyCpu: mean(early), lateCpu: mean(late) };
}
