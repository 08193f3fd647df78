/** One thread of many turns; with a saver also what it wrote, reading it back, and one more turn. */
import { load, runConfig } from "./contender.mjs";
import { repeat, timed } from "./cpu.mjs";
import { openSaver, storedSize } from "./savers.mjs";
import {
  ask,
  benchModel,
  checkRun,
  checkSmallTurns,
  editTurns,
  makeFiles,
  smallTurns,
  textOf,
} from "./script.mjs";

const READS = 3;

export async function measure(contender, { turns, saver: kind = "none", files = 0, fileBytes = 0 }) {
  const { create } = await load(contender);
  const { saver, counts, close } = await openSaver(kind);
  const script = files > 0 ? editTurns(turns, files) : smallTurns(turns);
  const agent = create({ model: benchModel(script), checkpointer: saver });
  const input = files > 0 ? { ...ask("Begin."), files: makeFiles(files, fileBytes) } : ask("Begin.");
  const config = runConfig(saver && "bench");
  const { result, cpu, wall } = await timed(() => agent.invoke(input, config));
  if (files > 0) checkEdits(result, turns, files);
  else checkSmallTurns(result, turns);
  const metrics = { cpu: cpu / turns, wall: wall / turns, rss: process.memoryUsage().rss / 2 ** 20 };
  if (saver) Object.assign(metrics, await afterwards(agent, config, counts, result, turns));
  close();
  return metrics;
}

async function afterwards(agent, config, counts, result, turns) {
  const { bytes, puts } = counts;
  const state = await timed(() => repeat(READS, () => agent.getState(config)));
  counts.bytes = 0;
  const followUp = await timed(() => agent.invoke(ask("Hello."), config));
  const lastMessages = followUp.result.messages.length;
  if (lastMessages !== result.messages.length + 2)
    throw new Error(`The follow-up turn saw ${lastMessages} messages.`);
  return {
    megabytes: bytes / 1e6,
    amplification: bytes / (await storedSize(result)),
    putsPerTurn: puts / turns,
    getStateCpu: state.cpu / READS,
    followUpCpu: followUp.cpu,
    followUpKb: counts.bytes / 1e3,
  };
}

function checkEdits(result, turns, files) {
  checkRun(result, turns);
  const revisions = Object.values(result.files).map((file) =>
    Number(/revision (\d+) of/.exec(textOf(file))?.[1]),
  );
  const edits = revisions.reduce((sum, revision) => sum + revision, 0);
  if (edits !== turns) throw new Error(`Expected ${turns} edits in ${files} files, found ${edits}.`);
}
