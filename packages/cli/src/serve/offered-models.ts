/** Models that runs of a served agent may choose: of servers on this machine, and of providers with a key. */
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { loadModel } from "../model/load.ts";
import { offeredNames } from "../models/offered-names.ts";

/** Loaded when first chosen. `present` is the agent's own. */
export async function offeredModels(
  present: string,
  environment: NodeJS.ProcessEnv,
): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const names = await offeredNames(present, environment);
  return Object.fromEntries(
    names.map((name) => [
      name,
      async () => loadModel(await chooseModel({ model: name }, environment, endpoints)),
    ]),
  );
}
