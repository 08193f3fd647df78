/** What building an agent costs: the first in the process, and each of many. */
import { load } from "./contender.mjs";
import { heapAfterGc, repeat, timed } from "./cpu.mjs";
import { benchModel } from "./script.mjs";

export async function measure(contender, { agents }) {
  const { create } = await load(contender);
  const model = benchModel(["Done."]);
  const first = await timed(() => create({ model }));
  await repeat(20, () => create({ model }));
  const kept = new Array(agents);
  const before = heapAfterGc();
  const many = await timed(() => repeat(agents, (i) => (kept[i] = create({ model }))));
  const heap = heapAfterGc() - before;
  return {
    cpu: many.cpu / kept.length,
    wall: many.wall / kept.length,
    firstCpu: first.cpu,
    firstWall: first.wall,
    heapKb: heap / 1024 / kept.length,
  };
}
