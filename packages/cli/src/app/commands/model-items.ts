/** Models that a person can change to: of servers on this machine, and of providers with a key. */
import { localServers } from "../../models/local-servers.ts";
import { keyedProviders } from "../../models/models-command.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { PickedItem } from "../panels/picker.ts";

/** The present model comes first. Servers that do not answer within 300 ms are left out. */
export async function modelItems(
  present: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly PickedItem<string>[]> {
  const servers = await localServers(environment);
  const local = servers.flatMap(({ provider, title, url, models = [] }) =>
    models.map((model) => ({
      value: `${provider}:${model}`,
      label: safeLine(`${provider}:${model}`, 60),
      description: safeLine(`${title} at ${url}`, 80),
    })),
  );
  const keyed = keyedProviders(environment).flatMap(({ provider, model, key }) =>
    model === undefined
      ? []
      : [{ value: `${provider}:${model}`, label: `${provider}:${model}`, description: `${key} is set` }],
  );
  const offline = { value: "offline", label: "offline", description: "a fixed routine, not an LLM" };
  const others = [...local, ...keyed, offline].filter(({ value }) => value !== present);
  return [{ value: present, label: safeLine(present, 60), description: "in use" }, ...others];
}
