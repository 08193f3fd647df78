/** Makes all agents at the start, so that mistakes in their configuration show then, and not in a run. */
import { ConfigurationError } from "deepwright";
import type { AgentRegistry } from "./registry.ts";

/**
 * Rejects for mistakes in the configuration: an invalid option, an async subagent with an unknown `graphId`. Other
 * failures may pass: they are reported, and the agent is made when it is first used.
 */
export async function loadAll(
  { names, load }: Pick<AgentRegistry, "names" | "load">,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const name of names)
    await load(name).catch((error: unknown) => {
      if (!(error instanceof ConfigurationError)) return onError(error);
      const { code, hint } = error;
      throw new ConfigurationError(code, `The agent '${name}' cannot be made. ${error.message}`, {
        ...(hint !== undefined && { hint }),
        cause: error,
      });
    });
}
