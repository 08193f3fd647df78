/** Settings and reviews of the directory of each agent. */
import type { Services } from "../routes/services.ts";
import { LOCAL_OWNER } from "../runs/tenants.ts";
import type { SettingsOfHost } from "./host-settings.ts";
import { MemoryReviews } from "./memory-reviews.ts";

/** One for each agent. Its review reads the threads of this agent alone. */
export function reviewsFor(
  settings: Services["settings"],
  { records, saver, closing, onError }: Pick<Services, "records" | "saver" | "closing" | "onError">,
): Services["reviews"] {
  const byAgent = new Map<string, MemoryReviews>();
  const review = async (agent: string) => {
    const isOfAgent = async (threadId: string): Promise<boolean> =>
      (await records.threads.head(LOCAL_OWNER, threadId))?.metadata.graph_id === agent;
    const known = settings(agent);
    if (known) return known.propose({ saver, isOfAgent, signal: closing });
    throw new Error("There are no settings.");
  };
  return (agent) => {
    const known = byAgent.get(agent) ?? new MemoryReviews(() => review(agent), onError);
    byAgent.set(agent, known);
    return known;
  };
}

/** A value holds for every agent. */
export function settingsByAgent(
  given: SettingsOfHost | ((agent: string) => SettingsOfHost | undefined) | undefined,
): Services["settings"] {
  return typeof given === "function" ? given : () => given;
}
