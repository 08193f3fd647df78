/** Words for the model about arguments that a tool does not accept. */
import { StructuredTool, ToolInputParsingException } from "@langchain/core/tools";
import { Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import { z } from "zod";
import { isRecord } from "../../check-options.ts";
import { ARGUMENT_NAMES } from "../../internal-symbols.ts";
import { withoutSecrets } from "../../secrets.ts";
import { editDistance } from "../../text/edit-distance.ts";
import { argumentsWithoutNulls, jsonSchemaOf } from "../providers/strict-tools.ts";
import { shorten } from "./shorten.ts";

export interface ToolLike {
  readonly name: string;
  readonly schema?: unknown;
}

/** For the error of LangChain's tools when arguments do not fit. */
export function argumentWords(error: Error, tool: ToolLike, args: unknown): string {
  const detail = isInteropZodSchema(tool.schema)
    ? zodDetail(error.message)
    : jsonSchemaDetail(tool.schema, args) || error.message;
  const unknown = unknownArguments(tool, args);
  const report = unknown === "" ? detail : `${detail}\n${unknown}`;
  return `Error: The arguments for tool '${tool.name}' are not valid:\n${shorten(withoutSecrets(report))}\nCorrect them and call it again.`;
}

/**
 * The words that a call of the tool would fail with because of its arguments. Undefined: its schema accepts them, or only
 * the call itself can show whether it does.
 */
export async function refusedArguments(
  tool: unknown,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (!(tool instanceof StructuredTool)) return undefined;
  const { schema } = tool as ToolLike;
  const given = argumentsWithoutNulls(tool, args);
  if (!isInteropZodSchema(schema))
    return jsonSchemaDetail(schema, given) === ""
      ? undefined
      : argumentWords(new ToolInputParsingException(""), tool, args);
  const result = await interopSafeParseAsync(schema, given);
  if (result.success || !Array.isArray(result.error?.issues)) return undefined;
  return argumentWords(
    new ToolInputParsingException(`\n\n${z.prettifyError(result.error as never)}`),
    tool,
    args,
  );
}

/** LangChain appends the field-level report after a heading of its own. */
function zodDetail(message: string): string {
  const [, ...rest] = message.split("\n\n");
  return (rest.join("\n\n") || message).trim();
}

/** Empty when the schema has nothing against the arguments, or cannot be read. */
export function jsonSchemaDetail(schema: unknown, args: unknown): string {
  const errors = schemaErrors(schema, args);
  const leaves = errors.filter((e) => !/(does|did) not match schema\.?$/.test(e.error));
  const problems = leaves.length > 0 ? leaves : errors;
  return problems
    .map((e) => `- ${e.instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${e.error}`)
    .join("\n");
}

function schemaErrors(schema: unknown, args: unknown): ReturnType<Validator["validate"]>["errors"] {
  try {
    return new Validator(schema as never).validate(args).errors;
  } catch {
    return [];
  }
}

const MOST_NAMED = 5;
const LONGEST_NAME = 60;

/** Names the given arguments that the tool does not have, with the one that each may mean; empty: there are none. */
export function unknownArguments({ name, schema }: ToolLike, args: unknown): string {
  const known = argumentNames(schema);
  if (known === undefined || !isRecord(args)) return "";
  const given = Object.keys(args).filter((key) => args[key] !== null && args[key] !== undefined);
  const unknown = given.filter((key) => !known.accepted.has(key));
  if (unknown.length === 0) return "";
  const open = known.shown.filter((key) => !given.includes(key));
  const named = unknown.slice(0, MOST_NAMED).map((key) => {
    const near = nearest(key, open);
    return `'${key.slice(0, LONGEST_NAME)}'${near === undefined ? "" : ` (did you mean '${near}'?)`}`;
  });
  const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : "";
  return `${name} has no argument ${named.join(", ")}${more}. Its arguments are: ${known.shown.join(", ") || "none"}.`;
}

interface ArgumentNames {
  /** As the model is shown them. */
  readonly shown: readonly string[];
  /** With the other names that the tool understands. */
  readonly accepted: ReadonlySet<string>;
}

/** The schema, which now says which other names it understands. */
export function withArgumentNames<Schema extends object>(
  schema: Schema,
  shown: readonly string[],
  aliases: readonly string[],
): Schema {
  const names: ArgumentNames = { shown, accepted: new Set([...shown, ...aliases]) };
  return Object.defineProperty(schema, ARGUMENT_NAMES, { value: names });
}

/** Undefined for a schema that takes any argument, or cannot be read. */
function argumentNames(schema: unknown): ArgumentNames | undefined {
  const own = (schema as { [ARGUMENT_NAMES]?: ArgumentNames } | undefined)?.[ARGUMENT_NAMES];
  if (own !== undefined) return own;
  const { properties, patternProperties, additionalProperties = false } = jsonSchemaOf(schema) ?? {};
  if (properties === undefined || patternProperties !== undefined || additionalProperties !== false)
    return undefined;
  const shown = Object.keys(properties as object);
  return { shown, accepted: new Set(shown) };
}

/** The name that differs in at most two letters, or begins the same; case and underscores do not count. */
function nearest(given: string, names: readonly string[]): string | undefined {
  if (given.length > LONGEST_NAME) return undefined;
  const ranked = names
    .map((name) => ({ name, difference: difference(plain(given), plain(name)) }))
    .filter(({ difference }) => difference <= 2)
    .sort((one, other) => one.difference - other.difference);
  return ranked[0]?.name;
}

function difference(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  if (shorter < 3) return Number.POSITIVE_INFINITY;
  return one.startsWith(other) || other.startsWith(one) ? 1 : editDistance(one, other);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
