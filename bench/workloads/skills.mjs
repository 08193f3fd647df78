/** What 200 skills on a disk cost a first run, a second agent in the same process, and the thread. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { say } from "deepwright/testing";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { ask, benchModel } from "./script.mjs";

export async function measure(contender, { skills, times = 15 }) {
  const { create } = await load(contender);
  const { FilesystemBackend } = await import(contender);
  const folder = mkdtempSync(join(tmpdir(), "deepwright-bench-skills-"));
  makeSkills(join(folder, "few"), 2);
  makeSkills(join(folder, "many"), skills);
  const backend = new FilesystemBackend({ rootDir: folder, virtualMode: true });
  const invoke = (source) => run(create, backend, source);
  for (let i = 0; i < times; i += 1) await invoke(i % 2 === 0 ? "/few/" : undefined);
  const plain = await repeated(times, () => invoke(undefined));
  const cold = await invoke("/many/");
  const again = await compared(3 * times, invoke);
  const bytes = (await stored(create, backend, "/many/")) - (await stored(create, backend, undefined));
  rmSync(folder, { recursive: true });
  return { coldCpu: cold - plain, againCpu: again, kilobytes: bytes / 1e3 };
}

/** What the skills add to a run: runs with and without them take turns, so that both are as warm as each other. */
async function compared(times, invoke) {
  const [without, having] = [[], []];
  for (let i = 0; i < times; i += 1) {
    without.push(await invoke(undefined));
    having.push(await invoke("/many/"));
  }
  return Math.max(0, median(having) - median(without));
}

async function repeated(times, work) {
  const costs = [];
  for (let i = 0; i < times; i += 1) costs.push(await work());
  return median(costs);
}

/** A garbage collection is none of it. */
function median(costs) {
  return costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)];
}

async function run(create, backend, source) {
  const agent = create({
    model: benchModel(() => say("Done.")),
    backend,
    ...(source && { skills: [source] }),
  });
  const { cpu } = await timed(() => agent.invoke(ask("Hello."), runConfig()));
  return cpu;
}

async function stored(create, backend, source) {
  const checkpointer = new MemorySaver();
  let bytes = 0;
  const inner = checkpointer.serde;
  checkpointer.serde = {
    loadsTyped: (type, data) => inner.loadsTyped(type, data),
    dumpsTyped: async (value) => {
      const dumped = await inner.dumpsTyped(value);
      bytes += dumped[1].length;
      return dumped;
    },
  };
  const options = { model: benchModel(() => say("Done.")), backend, checkpointer };
  await create({ ...options, ...(source && { skills: [source] }) }).invoke(ask("Hello."), runConfig("bench"));
  return bytes;
}

function makeSkills(folder, count) {
  for (let i = 0; i < count; i += 1) {
    const name = `skill-number-${i}`;
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(
      join(folder, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: Knows how to do thing ${i}, step by step, and when not to.\nlicense: MIT\nmetadata:\n  author: bench\n  version: "1.${i}"\n---\n\n# Thing ${i}\n\n${"Do it carefully. ".repeat(100)}\n`,
    );
  }
}
