/** The whole script: what LangGraph SDK's Client can ask of a server. */
import { assistantScenarios } from "./assistants-for-tests.ts";
import { runScenarios } from "./runs-for-tests.ts";
import { cronScenarios, storeScenarios } from "./store-and-crons-for-tests.ts";
import { type Noted, notesOf, type Scenario, type Server } from "./talk-for-tests.ts";
import { threadScenarios } from "./threads-for-tests.ts";

export const scenarios: readonly Scenario[] = [
  ...assistantScenarios,
  ...threadScenarios,
  ...runScenarios,
  ...storeScenarios,
  ...cronScenarios,
];

/** Methods of the Client that no scenario calls, each with the reason. */
export const NOT_SERVED: Readonly<Record<string, string>> = {
  "threads.stream": "opens the newer stream protocol, see thread-protocol.test.ts",
};

/** By the name of the scenario. Those about assistants count what there is, so they wait for each other. */
export async function wholeScript(server: Server, isOurs: boolean): Promise<Map<string, Noted[]>> {
  const notes = new Map<string, Noted[]>();
  const inTurn = async (some: readonly Scenario[]) => {
    for (const scenario of some) notes.set(scenario.name, await notesOf(scenario, server, isOurs));
  };
  const others = scenarios.filter((scenario) => !assistantScenarios.includes(scenario));
  await Promise.all([inTurn(assistantScenarios), ...others.map((scenario) => inTurn([scenario]))]);
  return notes;
}
