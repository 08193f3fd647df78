/** Builds the agents that run inside another: from what they were given as and what they take over. */
import { SystemMessage } from "@langchain/core/messages";
import { approvalDemandOf } from "./backends/approval-demand.ts";
import { ConfigurationError } from "./errors.ts";
import type { InterruptOn } from "./loop/approval-rules/approval-policy.ts";
import type { Loop } from "./loop/contract/loop.ts";
import { AgentGraph, attachNodes, graphFields } from "./loop/graph/agent-graph.ts";
import { buildLoop, type LoopSpec } from "./loop/graph/build.ts";
import { type ModelSource, modelSource } from "./loop/providers/model-source.ts";
import { buildTeams, introduceTeams, teamsMayAsk } from "./middleware/subagents.ts";
import { splitMiddleware } from "./options.ts";
import { gatesFor, permissionsOption } from "./permissions/agent-rules.ts";
import { resolveHarnessProfile, withExtraMiddleware } from "./profiles/resolve.ts";
import { middlewareStack } from "./stack.ts";
import { type ChildDefaults, isGeneralPurpose } from "./subagents/defaults.ts";
import type { SubAgent } from "./subagents/spec.ts";
import type { BuildChild, Parent } from "./subagents/team.ts";

/** A loop whose subagents know that they work for it. */
export function buildAgentLoop(spec: LoopSpec): Loop {
  const loop = buildLoop({ ...spec, asksInside: teamsMayAsk(spec.middleware) });
  introduceTeams(loop, spec);
  const demand = spec.middleware.map(approvalDemandOf).find((why) => why !== undefined);
  if (demand !== undefined) buildTeams(loop, demand);
  return loop;
}

export function childBuilder(defaults: ChildDefaults): BuildChild {
  const sourceOf = sharedSources();
  return (subAgent, parent, responseFormat) => {
    const spec =
      subAgent.mode === "fork" && parent !== undefined
        ? forkSpec(subAgent, parent, defaults)
        : isolatedSpec(subAgent, defaults);
    const whole = {
      ...spec,
      ...(responseFormat !== undefined && { responseFormat }),
      modelSource: sourceOf(spec.model, parent),
    };
    // A fork has the very middleware of its agent, whose team works for the agent.
    const loop = subAgent.mode === "fork" && parent !== undefined ? buildLoop(whole) : buildAgentLoop(whole);
    const graph = new AgentGraph(graphFields(loop, undefined, {}));
    attachNodes(graph);
    return graph;
  };
}

/** Agents on models of one name share the client, whose connections and limits are the same anyway. */
function sharedSources(): (model: unknown, parent: Parent | undefined) => ModelSource | undefined {
  const sources = new Map<string, ModelSource>();
  return (model, parent) => {
    if (typeof model !== "string") return undefined;
    const source =
      sources.get(model) ?? (parent?.spec.model === model ? parent.loop.model : modelSource(model));
    sources.set(model, source);
    return source;
  };
}

function isolatedSpec(subAgent: SubAgent, defaults: ChildDefaults): LoopSpec {
  const model = subAgent.model ?? defaults.model;
  if (model === undefined || model === null) throw modelMissing(subAgent.name);
  const tools = subAgent.tools ?? defaults.tools ?? [];
  const interruptOn = interruptsOf(subAgent, defaults);
  const permissions = subAgent.permissions ?? defaults.permissions;
  const rules = permissionsOption({ permissions });
  const { profile, keys } = resolveHarnessProfile(model, defaults.profile);
  const skills = skillsOf(subAgent, defaults);
  const own: ChildDefaults = { ...defaults, model, tools, interruptOn, permissions, skills };
  const { given, off: ownOff } = splitMiddleware(middlewareOf(subAgent, defaults));
  const off = new Set([...(defaults.off ?? []), ...ownOff]);
  const words = [...(subAgent.mode === "fork" ? [defaults.systemPrompt] : []), subAgent.systemPrompt];
  return {
    ...sharedSettings(subAgent, defaults),
    model,
    tools,
    interruptOn,
    gates: gatesFor(defaults.backend, rules),
    middleware: middlewareStack({
      backend: defaults.backend as never,
      permissions: rules,
      skills,
      untrusted: defaults.untrusted,
      budget: subAgent.budget ?? undefined,
      given: withExtraMiddleware(given, off, profile),
      off,
      excluded: profile.excludedMiddleware,
      excludedTools: profile.excludedTools,
      children: own,
    }),
    promptBefore: words.filter((part) => part != null),
    promptAfter: [profile.systemPromptSuffix ?? ""],
    toolShape: { excluded: profile.excludedTools, descriptions: profile.toolDescriptionOverrides },
    profileKeys: keys,
  };
}

/** The agent itself under another name, with a few words more: what was sent before is sent again as it was. */
function forkSpec(subAgent: SubAgent, { spec }: Parent, defaults: ChildDefaults): LoopSpec {
  const { given } = splitMiddleware(subAgent.middleware ?? []);
  const words = subAgent.systemPrompt ?? "";
  const { responseFormat, name } = sharedSettings(subAgent, defaults);
  return {
    ...spec,
    name,
    responseFormat,
    model: subAgent.model ?? spec.model,
    tools: subAgent.tools ?? spec.tools,
    interruptOn: interruptsOf(subAgent, { interruptOn: spec.interruptOn }),
    middleware: [...spec.middleware, ...given],
    promptAfter: [...spec.promptAfter, SystemMessage.isInstance(words) ? words.text : words],
  };
}

function sharedSettings(
  { name, responseFormat }: SubAgent,
  { stateSchema, toolTimeout, toolConcurrency }: ChildDefaults,
): Pick<LoopSpec, "name" | "responseFormat" | "stateSchema" | "toolTimeout" | "toolConcurrency"> {
  return { name, responseFormat: responseFormat ?? undefined, stateSchema, toolTimeout, toolConcurrency };
}

/** Its own decides for the tools it names. */
function interruptsOf(
  { interruptOn }: SubAgent,
  defaults: Pick<ChildDefaults, "interruptOn">,
): InterruptOn | undefined {
  if (interruptOn == null) return defaults.interruptOn;
  return { ...defaults.interruptOn, ...interruptOn };
}

function skillsOf(subAgent: SubAgent, defaults: ChildDefaults): readonly string[] {
  return subAgent.skills ?? (isGeneralPurpose(subAgent) ? (defaults.skills ?? []) : []);
}

/** The child's own middleware wins over one with the same name. */
function middlewareOf(subAgent: SubAgent, defaults: ChildDefaults): readonly object[] {
  const own = subAgent.middleware ?? [];
  const { middleware = [], generalPurposeMiddleware = middleware } = defaults;
  const common = isGeneralPurpose(subAgent) ? generalPurposeMiddleware : middleware;
  const names = new Set(own.map(nameOf));
  return [...common.filter((one) => nameOf(one) === undefined || !names.has(nameOf(one))), ...own];
}

function nameOf(middleware: object): string | undefined {
  const { name } = middleware as { name?: unknown };
  return typeof name === "string" ? name.toLowerCase() : undefined;
}

function modelMissing(name: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `The subagent '${name}' has no model.`, {
    hint: "Give it one, or `defaultModel` to createSubAgentMiddleware.",
  });
}
