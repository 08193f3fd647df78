/** What building an agent costs: the first in the process, and each of many. */
import { load } from "./contender.mjs";
import { heapAfterGc, repeat, timed } from "./cpu.mjs";
import { benchModel } from "./script.mjs";

export async function measure(contender, { agents, subagents = 0 }) {
  const { create } = await load(contender);
  const model = benchModel(["Done."]);
  const options = subagents > 0 ? { model, subagents: team(subagents) } : { model };
  const first = await timed(() => create(options));
  await repeat(Math.min(20, agents), () => create(options));
  const kept = new Array(agents);
  const before = heapAfterGc();
  const many = await timed(() => repeat(agents, (i) => (kept[i] = create(options))));
  const heap = heapAfterGc() - before;
  return {
    cpu: many.cpu / kept.length,
    wall: many.wall / kept.length,
    firstCpu: first.cpu,
    firstWall: first.wall,
    heapKb: heap / 1024 / kept.length,
  };
}

function team(count) {
  return Array.from({ length: count }, (_, i) => ({
    name: `worker-${i}`,
    description: `Does work of kind ${i}.`,
    systemPrompt: `You do work of kind ${i}.`,
  }));
}
