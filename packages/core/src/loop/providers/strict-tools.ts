/** Tools and answer schemas of a request in the strict mode of its provider, where that mode is used. */

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { anthropicSchema, type JsonSchema, openaiSchema, withoutNulls } from "./strict-schema.ts";

type Options = Readonly<Record<string, unknown>>;

interface Bound {
  readonly tools: readonly unknown[];
  readonly options: Options;
}

/**
 * As given where strict mode is not used, and for the other providers, which have none for tools.
 * LangChain's package for OpenAI has one switch for all tools: with one that cannot be strict, none is.
 */
export function strictBinding(client: BaseChatModel, { tools, options }: Bound): Bound {
  if (isOpenai(client)) return forOpenai(client, { tools, options });
  return /anthropic/i.test(client.getName()) ? forAnthropic({ tools, options }) : { tools, options };
}

/** The class of OpenAI's package and all that extend it. */
function isOpenai(client: BaseChatModel): boolean {
  return "supportsStrictToolCalling" in client;
}

function forOpenai(client: BaseChatModel, given: Bound): Bound {
  const { supportsStrictToolCalling: byClient } = client as { supportsStrictToolCalling?: boolean };
  const format = strictFormat(given.options.response_format as Format | undefined);
  const options = format === undefined ? given.options : { ...given.options, response_format: format };
  const isStrict = options.strict ?? byClient ?? format !== undefined;
  if (isStrict !== true || given.tools.length === 0) return { tools: given.tools, options };
  const tools = given.tools.map(openaiTool);
  if (tools.includes(undefined)) return { tools: given.tools, options: { ...options, strict: false } };
  return { tools, options };
}

interface Format {
  readonly type?: unknown;
  readonly json_schema?: { readonly schema?: JsonSchema; readonly strict?: boolean };
}

/** Undefined: there is none that a schema rules. */
function strictFormat(format: Format | undefined): Format | undefined {
  const { schema, strict } = format?.json_schema ?? {};
  if (format?.type !== "json_schema" || schema === undefined || strict === false) return undefined;
  const made = openaiSchema(schema);
  const json = made === undefined ? { strict: false } : { schema: made };
  return { ...format, json_schema: { ...format.json_schema, ...json } };
}

interface ToolLike {
  readonly name?: string;
  readonly description?: string;
  readonly schema?: unknown;
  readonly input_schema?: JsonSchema;
  readonly type?: unknown;
  readonly function?: { readonly name: string; readonly parameters?: JsonSchema };
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly metadata?: { readonly customTool?: unknown };
}

/** Undefined: it cannot be strict. Tools that the provider runs, or defines, stay as they are. */
function openaiTool(tool: unknown): unknown {
  const { schema, function: given, extras, metadata } = tool as ToolLike;
  if (extras?.providerToolDefinition !== undefined || metadata?.customTool !== undefined) return tool;
  if (schema === undefined && given === undefined) return tool;
  const { function: made } = given === undefined ? convertToOpenAITool(tool as never) : { function: given };
  const parameters = openaiSchema((made.parameters ?? EMPTY) as JsonSchema);
  if (parameters === undefined) return undefined;
  const rest = given === undefined ? { type: "function" } : (tool as object);
  const isDeferred = given === undefined && extras?.defer_loading === true;
  return { ...rest, function: { ...made, parameters }, ...(isDeferred && { defer_loading: true }) };
}

const EMPTY: JsonSchema = { type: "object", properties: {} };

/** Here each tool has a switch of its own. */
function forAnthropic({ tools, options: given }: Bound): Bound {
  const { strict, ...options } = given;
  const made = tools.map((tool) => anthropicTool(tool, strict as boolean | undefined));
  return made.every((tool, index) => tool === tools[index])
    ? { tools, options: given }
    : { tools: made, options: strict === true ? options : given };
}

function anthropicTool(tool: unknown, byCall: boolean | undefined): unknown {
  const one = tool as ToolLike;
  const { providerToolDefinition, strict: own, ...extras } = one.extras ?? {};
  if ((byCall ?? own) !== true || providerToolDefinition !== undefined) return tool;
  const schema = one.input_schema ?? one.function?.parameters ?? jsonSchemaOf(one.schema);
  if (schema === undefined) return tool;
  const { name, description } = (one.function ?? one) as ToolLike;
  const marks = one.input_schema === undefined ? extras : (tool as object);
  const made = anthropicSchema(schema);
  const base = { ...marks, name, description };
  return made === undefined
    ? { ...base, input_schema: schema }
    : { ...base, input_schema: made, strict: true };
}

const schemas = new WeakMap<object, JsonSchema | undefined>();

/** Undefined for a schema that cannot be written as JSON. Made once for each schema. */
export function jsonSchemaOf(schema: unknown): JsonSchema | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  if (!schemas.has(schema)) schemas.set(schema, converted(schema));
  return schemas.get(schema);
}

/** Some schemas cannot be written as JSON. */
function converted(schema: object): JsonSchema | undefined {
  try {
    return toJsonSchema(schema as never) as JsonSchema;
  } catch {
    return undefined;
  }
}

/** Models in strict mode say null for what they leave out; some do so in any mode. */
export function argumentsWithoutNulls<Args extends object>(tool: unknown, args: Args): Args {
  if (!hasNull(args)) return args;
  return withoutNulls(jsonSchemaOf((tool as ToolLike).schema), args);
}

function hasNull(value: unknown): boolean {
  if (typeof value !== "object") return false;
  return value === null || Object.values(value).some(hasNull);
}
