/** A description of an agent, for people who want to see the prompt and its price. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { Limits } from "./budget/limits.ts";
import { type ModelPrice, priceOf } from "./budget/prices.ts";
import { modelName, windowOf } from "./context/tokens/known-windows.ts";
import type { HookPhase, Loop } from "./loop/contract/loop.ts";
import { namesOf } from "./loop/model/model-call.ts";
import type { AnyTool } from "./loop/providers/any-tool.ts";
import { limitsOfAgent } from "./middleware/budget.ts";
import { subAgentsOf } from "./middleware/subagents.ts";
import { estimateTokens } from "./tokens.ts";
import { type ToolEffect, toolEffect } from "./tools/tool-effect.ts";

export interface AgentDescription {
  readonly name: string | undefined;
  readonly model: string;
  /** Keys of the profiles it was built with, the widest first. */
  readonly profiles: readonly string[];
  readonly systemPrompt: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly tokens: number;
    readonly effect: ToolEffect;
  }[];
  readonly subagents: readonly { readonly name: string; readonly description: string }[];
  /** In the order they wrap a call: outermost first. */
  readonly middleware: readonly { readonly name: string; readonly hooks: readonly string[] }[];
  /** Estimated; providers count in their own way. */
  readonly tokens: { readonly prompt: number; readonly tools: number; readonly total: number };
  /** Tokens that a request may have; undefined: not known. */
  readonly window: number | undefined;
  /** Prices of the model in dollars per million tokens; undefined: not known. */
  readonly price: ModelPrice | undefined;
  /** Limits of a run, Infinity where there is none; undefined: usage is not even counted. */
  readonly budget: Omit<Limits, "prices"> | undefined;
  toString(): string;
}

const HOOKS: readonly (HookPhase | "wrapModelCall" | "wrapToolCall")[] = [
  "beforeAgent",
  "beforeModel",
  "wrapModelCall",
  "afterModel",
  "wrapToolCall",
  "afterAgent",
];

export function describeLoop(loop: Loop): AgentDescription {
  const systemPrompt = loop.systemMessage(namesOf(loop.tools))?.text ?? "";
  const tools = loop.tools.map(describeTool);
  const middleware = loop.middleware.map((m) => ({
    name: m.name,
    hooks: HOOKS.filter((hook) => m[hook] !== undefined),
  }));
  const prompt = estimateTokens(systemPrompt);
  const toolTokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
  const description = {
    name: loop.name,
    model: loop.model.label,
    profiles: loop.profileKeys,
    systemPrompt,
    tools,
    subagents: subAgentsOf(loop).map(({ name, description: words }) => ({ name, description: words })),
    middleware,
    tokens: { prompt, tools: toolTokens, total: prompt + toolTokens },
    ...modelFacts(loop),
  };
  return { ...description, toString: () => print(description) };
}

function modelFacts(loop: Loop): Pick<AgentDescription, "window" | "price" | "budget"> {
  const { label } = loop.model;
  const known = loop.model.known?.() ?? ({ model: label.slice(label.indexOf(":") + 1) } as never);
  const { prices, ...budget } = limitsOfAgent(loop) ?? {};
  return {
    window: windowOf(known),
    price: priceOf(modelName(known), prices),
    budget: prices && (budget as Omit<Limits, "prices">),
  };
}

function describeTool(tool: AnyTool): AgentDescription["tools"][number] {
  const { name, description } = tool as { name?: string; description?: string };
  return {
    name: name ?? "(provider tool)",
    description: description ?? "",
    tokens: estimateTokens(JSON.stringify(definition(tool))),
    effect: toolEffect(tool),
  };
}

function definition(tool: AnyTool): unknown {
  const { schema } = tool as { schema?: unknown };
  return schema === undefined ? tool : convertToOpenAITool(tool as StructuredToolInterface);
}

function print(d: Omit<AgentDescription, "toString">): string {
  const lines = [
    `agent ${d.name ?? "(unnamed)"} on ${d.model}`,
    `about ${d.tokens.total} tokens before the first message: prompt ${d.tokens.prompt}, tools ${d.tokens.tools}`,
    ...(d.profiles.length > 0 ? [`profiles: ${d.profiles.join(", ")}`] : []),
    "",
    "middleware, outermost first:",
    ...d.middleware.map((m) => `  ${m.name}${m.hooks.length > 0 ? ` (${m.hooks.join(", ")})` : ""}`),
    "",
    "tools:",
    ...d.tools.map((tool) => `  ${tool.name} (${tool.tokens}): ${tool.description.split("\n", 1)[0]}`),
    ...(d.subagents.length > 0 ? ["", "subagents:"] : []),
    ...d.subagents.map((one) => `  ${one.name}: ${one.description.split("\n", 1)[0]}`),
    "",
    "system prompt:",
    d.systemPrompt,
  ];
  return lines.join("\n");
}
