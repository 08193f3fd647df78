/** The agents of a screen by namespace, and which call of its parent a subagent works on. */
import { changeCall } from "./messages-of-agent.ts";
import { newAgent, type Screen, type ShownAgent } from "./screen.ts";
import { own, share, withField } from "./share.ts";

export function agentAt(screen: Screen, place: string): ShownAgent {
  if (place === "") return screen.main;
  return own(screen.subagents, place) ?? newAgent(place.split("|"));
}

export function putAgent(screen: Screen, place: string, agent: ShownAgent): Screen {
  if (place === "") return agent === screen.main ? screen : { ...screen, main: agent };
  const subagents = withField(screen.subagents, place, agent);
  return subagents === screen.subagents ? screen : { ...screen, subagents };
}

/** The agent with fields that differ; the same object when none does. */
export function changed(agent: ShownAgent, change: Partial<ShownAgent>): ShownAgent {
  const names = Object.keys(change) as (keyof ShownAgent)[];
  return names.every((name) => Object.is(agent[name], change[name])) ? agent : { ...agent, ...change };
}

export function changeAgent(
  screen: Screen,
  place: string,
  change: (agent: ShownAgent) => Partial<ShownAgent>,
): Screen {
  const agent = agentAt(screen, place);
  return putAgent(screen, place, changed(agent, change(agent)));
}

/** The place of the agent around it. */
export function parentOf(place: string): string {
  return place.split("|").slice(0, -1).join("|");
}

/** Ties a subagent to the call it works on; it says which task it is, or its first message does. */
export function linkSubagent(screen: Screen, place: string): Screen {
  const agent = own(screen.subagents, place);
  if (!agent || agent.callId !== undefined) return screen;
  const parent = agentAt(screen, parentOf(place));
  const callId = callOf(screen, agent, parent);
  return callId === undefined ? screen : tie(screen, place, callId);
}

export function tie(screen: Screen, place: string, callId: string): Screen {
  const agent = own(screen.subagents, place);
  if (!agent) return screen;
  const linked = putAgent(screen, place, changed(agent, { callId }));
  return changeAgent(linked, parentOf(place), ({ messages }) => ({
    messages: changeCall(messages, callId, { subagent: place }),
  }));
}

function callOf(screen: Screen, agent: ShownAgent, parent: ShownAgent): string | undefined {
  const task = agent.namespace.at(-1)?.split(":").slice(1).join(":") ?? "";
  const noted = own(screen.notes.tasks, task);
  if (noted !== undefined) return noted;
  const order = agent.messages[0];
  if (order?.role !== "user") return undefined;
  const calls = parent.messages
    .flatMap((message) => message.calls)
    .filter((call) => call.subagent === undefined);
  const named = calls.find(({ id }) => order.id === `task-${id}`);
  if (named) return named.id;
  const alike = calls.filter(
    ({ args }) => (args as { description?: unknown } | undefined)?.description === order.text,
  );
  return alike.length === 1 ? alike[0]?.id : undefined;
}

/** Every agent, changed alike. */
export function mapAgents(screen: Screen, change: (agent: ShownAgent) => Partial<ShownAgent>): Screen {
  const subagents = Object.fromEntries(
    Object.entries(screen.subagents).map(([place, agent]) => [place, changed(agent, change(agent))]),
  );
  return {
    ...screen,
    main: changed(screen.main, change(screen.main)),
    subagents: share(screen.subagents, subagents),
  };
}
