/** Figures that do not depend on the machine: what happens in one turn, counted. */
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { load, runConfig } from "./contender.mjs";
import { openSaver } from "./savers.mjs";
import { ask, benchModel, checkSmallTurns, smallTurns } from "./script.mjs";

/** From the difference of a short and a long run, so that what happens once a run does not count. */
export async function measure(contender, { short, long }) {
  const { create } = await load(contender);
  const a = await countRun(create, short);
  const b = await countRun(create, long);
  const keys = Object.keys(a);
  return Object.fromEntries(keys.map((key) => [key, (b[key] - a[key]) / (long - short)]));
}

async function countRun(create, turns) {
  const { saver, counts, close } = await openSaver("memory");
  const contexts = countCalls(AsyncLocalStorageProviderSingleton, "runWithConfig");
  const managers = countCalls(CallbackManager, "_configureSync");
  const agent = create({ model: benchModel(smallTurns(turns)), checkpointer: saver });
  const result = await agent.invoke(ask("Begin."), runConfig("bench"));
  checkSmallTurns(result, turns);
  close();
  return {
    supersteps: counts.puts,
    putWrites: counts.putWrites,
    runWithConfig: contexts.stop(),
    callbackManagers: managers.stop(),
  };
}

function countCalls(target, method) {
  const original = target[method];
  let calls = 0;
  target[method] = function counting(...args) {
    calls += 1;
    return original.apply(this, args);
  };
  return {
    stop() {
      target[method] = original;
      return calls;
    },
  };
}
