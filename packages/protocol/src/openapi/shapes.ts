/** Turns the zod schemas of routes into JSON Schema for the OpenAPI document. Exported schemas keep their names. */
import { z } from "zod";
import * as assistants from "../assistants.ts";
import * as crons from "../crons.ts";
import { message, toolCall } from "../messages.ts";
import { problem } from "../problems.ts";
import type { Route } from "../routes/route.ts";
import * as runs from "../runs.ts";
import * as server from "../server.ts";
import * as store from "../store.ts";
import * as threadWork from "../thread-work.ts";
import * as threads from "../threads.ts";

export type JsonSchema = { readonly [key: string]: unknown };
export type Part = (typeof PARTS)[number];

const PARTS = ["parameters", "query", "body", "answer"] as const;

export interface Shapes {
  /** The schema of a part of a route, with references to those that have names. */
  of(route: Route, part: Part): JsonSchema;
  /** Schemas that routes refer to. */
  readonly named: Readonly<Record<string, JsonSchema>>;
}

/** Zod schemas can differ by side: requests show the values before parsing, answers the values after it. */
type Side = "input" | "output";
const sideOf = (part: Part): Side => (part === "answer" ? "output" : "input");

const PREFIX = "#/components/schemas/";
export const refTo = (name: string): string => `${PREFIX}${name}`;

export function shapesOf(table: readonly Route[]): Shapes {
  const sets = { input: schemaSet(table, "input"), output: schemaSet(table, "output") };
  const of = (route: Route, part: Part): JsonSchema => {
    const schema = route[part];
    const name = typeof schema === "object" ? NAMES.get(schema) : undefined;
    return name === undefined ? (sets[sideOf(part)][idOf(route, part)] as JsonSchema) : { $ref: refTo(name) };
  };
  const named: Record<string, JsonSchema> = {};
  /** Adds the schemas that `value` refers to, and those that they refer to. */
  const collect = (value: unknown, side: Side): void => {
    if (typeof value !== "object" || value === null) return;
    const { $ref } = value as { readonly $ref?: string };
    const name = $ref?.slice(PREFIX.length);
    if (name !== undefined && !(name in named)) {
      named[name] = sets[side][name] as JsonSchema;
      collect(named[name], side);
    }
    for (const inner of Object.values(value)) collect(inner, side);
  };
  for (const route of table)
    for (const part of PARTS) if (isSchema(route[part])) collect(of(route, part), sideOf(part));
  for (const name of ["Message", "Problem"]) collect({ $ref: refTo(name) }, "output");
  return { of, named };
}

/** Names of the exported object schemas, such as `Thread`. */
const NAMES: ReadonlyMap<z.ZodType, string> = new Map(
  Object.entries({
    ...{ ...assistants, ...threads, ...runs, ...crons, ...store, ...threadWork, ...server },
    ...{ message, toolCall, problem },
  }).flatMap(([name, value]) =>
    value instanceof z.ZodObject && !name.endsWith("Query")
      ? [[value as z.ZodType, name.charAt(0).toUpperCase() + name.slice(1)] as const]
      : [],
  ),
);

const idOf = (route: Route, part: Part): string => `${route.name} ${part}`;

function isSchema(part: Route[Part]): part is z.ZodType {
  return typeof part === "object";
}

function schemaSet(table: readonly Route[], io: Side): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of NAMES) registry.add(schema, { id });
  for (const route of table)
    for (const part of PARTS) {
      const schema = route[part];
      // One schema may be the part of several routes: a copy has a name of its own.
      if (isSchema(schema) && sideOf(part) === io && !NAMES.has(schema))
        registry.add(schema.clone(), { id: idOf(route, part) });
    }
  const { schemas } = z.toJSONSchema(registry, { io, uri: refTo, override: asSent });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  );
}

/** Query parameters are text; `means` is the type that the text stands for, and is shown instead. Extra fields are allowed. */
function asSent({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const schema = jsonSchema as Record<string, unknown>;
  const { means, description } = schema as { means?: Record<string, unknown>; description?: string };
  if (means) {
    for (const key of Object.keys(schema)) delete schema[key];
    const items = means.items instanceof z.ZodType ? z.toJSONSchema(means.items, { io: "input" }) : undefined;
    if (items) delete items.$schema;
    Object.assign(schema, description && { description }, means, items && { items });
  }
  const { def } = zodSchema._zod;
  if (def.type === "default" && schema.type !== "string") schema.default = def.defaultValue;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}
