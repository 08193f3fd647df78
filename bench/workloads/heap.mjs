/** What a finished thread keeps on the heap: while its result is held, and after it is let go. */
import { load, runConfig } from "./contender.mjs";
import { heapAfterGc, repeat } from "./cpu.mjs";
import { ask, benchModel, checkSmallTurns, smallTurns } from "./script.mjs";

export async function measure(contender, { turns }) {
  const { create } = await load(contender);
  const held = [];
  let begun = 0;
  const script = (request) => smallTurns(turns)({ turn: request.turn - begun });
  const agent = create({ model: benchModel(script) });
  const run = async () => {
    held[0] = await agent.invoke(ask("Begin."), runConfig());
    checkSmallTurns(held[0], turns);
    begun += turns + 1;
  };
  await repeat(2, run);
  held.pop();
  const before = heapAfterGc();
  await run();
  const withResult = heapAfterGc() - before;
  held.pop();
  const without = heapAfterGc() - before;
  return {
    heldKb: (withResult - without) / 1024 / turns,
    leftKb: without / 1024,
    rss: process.memoryUsage().rss / 2 ** 20,
  };
}
