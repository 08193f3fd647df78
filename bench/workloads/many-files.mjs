/** Reading files one a turn while many lie in the state. The turns alone; handing the files in is apart. */
import { load, runConfig } from "./contender.mjs";
import { cpuNow, timed } from "./cpu.mjs";
import { ask, benchModel, checkRun, makeFiles, readTurns } from "./script.mjs";

export async function measure(contender, { files, turns }) {
  const { create } = await load(contender);
  await run(create, makeFiles(10, 500), turns);
  return run(create, makeFiles(files, 500), turns);
}

async function run(create, files, turns) {
  const marks = [];
  const script = readTurns(turns, Object.keys(files).length, () => marks.push(cpuNow()));
  const agent = create({ model: benchModel(script) });
  const whole = await timed(() => agent.invoke({ ...ask("Begin."), files }, runConfig()));
  checkRun(whole.result, turns);
  const inTurns = marks.at(-1) - marks[0];
  return { cpu: inTurns / turns, aroundCpu: whole.cpu - inTurns, wholeCpu: whole.cpu / turns };
}
