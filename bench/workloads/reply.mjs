/** A run of one reply on an agent that is used again and again. */
import { load, runConfig } from "./contender.mjs";
import { repeat, timed } from "./cpu.mjs";
import { ask, benchModel } from "./script.mjs";

const WARM_UP = 10;

export async function measure(contender, { runs }) {
  const { create } = await load(contender);
  const agent = create({ model: benchModel(() => "Done.") });
  const invoke = () => agent.invoke(ask("Hello."), runConfig());
  const first = await timed(invoke);
  await repeat(WARM_UP, invoke);
  const many = await timed(() => repeat(runs, invoke));
  return { cpu: many.cpu / runs, wall: many.wall / runs, firstCpu: first.cpu };
}
