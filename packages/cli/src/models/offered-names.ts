/** Names of models that a person can change to: of providers with a key, and of servers on this machine. */
import { localServers } from "./local-servers.ts";
import { keyedProviders } from "./models-command.ts";

/** Without `present`. Servers that do not answer within 300 ms are left out. */
export async function offeredNames(
  present: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const servers = await localServers(environment);
  const local = servers.flatMap(({ provider, models = [] }) => models.map((model) => `${provider}:${model}`));
  const keyed = keyedProviders(environment).flatMap(({ provider, model }) =>
    model === undefined ? [] : [`${provider}:${model}`],
  );
  return [...new Set([...keyed, ...local])].filter((name) => name !== present);
}
