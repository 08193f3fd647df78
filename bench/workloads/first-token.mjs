/** From the call to the first token, over what the model itself takes. */
import { load, runConfig } from "./contender.mjs";
import { repeat, timed } from "./cpu.mjs";
import { ask, benchModel } from "./script.mjs";

const WARM_UP = 10;
const REPLY = "The quick brown fox jumps over the lazy dog. ".repeat(6);

export async function measure(contender, { runs }) {
  const { create } = await load(contender);
  const model = benchModel(() => REPLY);
  const agent = create({ model });
  const direct = () => model.stream(ask("Hello.").messages);
  const through = () => agent.stream(ask("Hello."), { ...runConfig(), streamMode: "messages" });
  const own = { cpu: 0, wall: 0 };
  const agents = { cpu: 0, wall: 0 };
  await repeat(WARM_UP + runs, async (i) => {
    await addFirstToken(direct, (chunk) => chunk, i < WARM_UP ? undefined : own);
    await addFirstToken(through, ([chunk]) => chunk, i < WARM_UP ? undefined : agents);
  });
  return {
    cpu: (agents.cpu - own.cpu) / runs,
    wall: (agents.wall - own.wall) / runs,
    modelCpu: own.cpu / runs,
  };
}

/** Adds the time to the first chunk with text, then reads the stream to its end. */
async function addFirstToken(open, messageOf, total) {
  const { result, cpu, wall } = await timed(async () => {
    const iterator = (await open())[Symbol.asyncIterator]();
    while (true) {
      const { value, done } = await iterator.next();
      if (done) throw new Error("The stream ended without a token.");
      if (messageOf(value)?.text) return iterator;
    }
  });
  while (!(await result.next()).done);
  if (total === undefined) return;
  total.cpu += cpu;
  total.wall += wall;
}
