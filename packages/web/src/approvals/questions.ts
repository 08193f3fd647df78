/** Questions of agents, read from interrupts without trust, and the answers to them. */
import type { ShownInterrupt } from "@deepwright/protocol/live";
import type { Allowance } from "./rules.ts";

export const DECISIONS = ["approve", "edit", "reject", "respond"] as const;
export type DecisionType = (typeof DECISIONS)[number];

export interface CallQuestion {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Undefined where the call itself says it all. */
  readonly description: string | undefined;
  readonly allowed: readonly DecisionType[];
  /** JSON schema of the arguments, where the tool has one. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

export interface Question {
  readonly id: string;
  /** Subagents from the outermost down; empty: the agent itself. */
  readonly agents: readonly string[];
  /** Empty where a tool asks something of its own. */
  readonly calls: readonly CallQuestion[];
  readonly problem: string | undefined;
  readonly value: unknown;
}

export type Decision =
  | { readonly type: "approve"; readonly remember?: "thread"; readonly allow?: Allowance }
  | { readonly type: "edit"; readonly editedAction: { readonly name: string; readonly args: object } }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly message: string };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function questionOf({ id, value }: Pick<ShownInterrupt, "id" | "value">): Question {
  const { actionRequests, reviewConfigs, agentPath, error } = isRecord(value) ? value : {};
  const configs: readonly unknown[] = Array.isArray(reviewConfigs) ? reviewConfigs : [];
  return {
    id,
    agents: Array.isArray(agentPath) ? agentPath.map(String) : [],
    calls: Array.isArray(actionRequests) ? actionRequests.map((call, i) => callOf(call, configs[i])) : [],
    problem: typeof error === "string" ? error : undefined,
    value,
  };
}

function callOf(request: unknown, config: unknown): CallQuestion {
  const { name, args, description } = isRecord(request) ? request : {};
  const { allowedDecisions, argsSchema } = isRecord(config) ? config : {};
  const tool = String(name);
  const given = isRecord(args) ? args : {};
  const says = typeof description === "string" ? description : undefined;
  const isUsual = says === `The agent wants to call ${tool} with ${JSON.stringify(args)}`;
  return {
    tool,
    args: given,
    description: isUsual ? undefined : says,
    allowed: Array.isArray(allowedDecisions)
      ? DECISIONS.filter((type) => allowedDecisions.includes(type))
      : DECISIONS,
    schema: isRecord(argsSchema) ? argsSchema : undefined,
  };
}

/** Why arguments do not fit the schema; empty: they do. Checks what forms get wrong: names, kinds and choices. */
export function problemsOf(value: unknown, schema: unknown, place = ""): readonly string[] {
  if (!isRecord(schema)) return [];
  const name = place || "the arguments";
  const { type, properties, required, enum: choices, items } = schema;
  if (Array.isArray(choices) && !choices.includes(value))
    return [`${name}: must be one of ${choices.map(String).join(", ")}`];
  if (typeof type === "string" && !isOfType(value, type))
    return [`${name}: must be ${WORD_OF[type] ?? type}`];
  const problems: string[] = [];
  if (isRecord(value)) {
    for (const key of Array.isArray(required) ? required.map(String) : [])
      if (!Object.hasOwn(value, key)) problems.push(`${place ? `${place}.` : ""}${key}: is missing`);
    for (const [key, inner] of Object.entries(isRecord(properties) ? properties : {}))
      if (Object.hasOwn(value, key))
        problems.push(...problemsOf(value[key], inner, place ? `${place}.${key}` : key));
    if (schema.additionalProperties === false && isRecord(properties))
      for (const key of Object.keys(value))
        if (!Object.hasOwn(properties, key)) problems.push(`${place ? `${place}.` : ""}${key}: is not known`);
  }
  if (Array.isArray(value))
    for (const [i, one] of value.entries()) problems.push(...problemsOf(one, items, `${place}[${i}]`));
  return problems;
}

const WORD_OF: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "null") return value === null;
  return !["string", "number", "boolean"].includes(type) || typeof value === type;
}
