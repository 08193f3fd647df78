/**
 * JSON schemas as the strict modes of providers take them.
 *
 * OpenAI wants every property listed as required and every object closed: an optional property may be null. Anthropic
 * wants every object closed and knows no limits of numbers and lengths. Null for an optional property means absent.
 */
import { isRecord } from "../../check-options.ts";

export type JsonSchema = { readonly [key: string]: unknown };

/** Thrown inside this file: no strict mode can say it. */
class Unstrict extends Error {}

/** Undefined where the schema has a part that strict mode cannot express, such as a record. */
export function openaiSchema(schema: JsonSchema): JsonSchema | undefined {
  return orUndefined(() => strict(rootOf(schema), true));
}

export function anthropicSchema(schema: JsonSchema): JsonSchema | undefined {
  return orUndefined(() => strict(rootOf(schema), false));
}

function orUndefined<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof Unstrict) return undefined;
    throw error;
  }
}

/** A tool without arguments need not list them. */
function rootOf(schema: JsonSchema): JsonSchema {
  const isBare = schema.type === "object" && schema.properties === undefined;
  return isBare && !schema.additionalProperties ? { ...schema, properties: {} } : schema;
}

const NEVER = [
  "allOf",
  "not",
  "if",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "prefixItems",
];
/** Keywords that Anthropic refuses in strict mode. */
const LIMITS = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems"],
]);

function strict(given: unknown, isOpenai: boolean): JsonSchema {
  if (!isRecord(given) || NEVER.some((key) => key in given)) throw new Unstrict();
  const { default: _default, oneOf, ...schema } = given;
  const inner = (value: unknown): JsonSchema => strict(value, isOpenai);
  const choices = (oneOf ?? schema.anyOf) as unknown[] | undefined;
  const isSaid = ["type", "enum", "const", "$ref"].some((key) => key in schema);
  const isOpenList = schema.type === "array" && !("items" in schema);
  if ((choices === undefined && !isSaid) || isOpenList) throw new Unstrict();
  const kept = Object.entries(schema).filter(([key]) => isOpenai || !LIMITS.has(key));
  return {
    ...Object.fromEntries(kept),
    ...(choices !== undefined && { anyOf: choices.map(inner) }),
    ...("items" in schema && { items: inner(schema.items) }),
    ...(schema.type === "object" && closed(schema, inner, isOpenai)),
    ...definitions(schema, inner),
  };
}

function closed(schema: JsonSchema, inner: (value: unknown) => JsonSchema, isOpenai: boolean): JsonSchema {
  const { properties, additionalProperties, required } = schema;
  if (!isRecord(properties) || (additionalProperties !== undefined && additionalProperties !== false))
    throw new Unstrict();
  const names = Object.keys(properties);
  const needed = new Set(Array.isArray(required) ? required : []);
  const made = names.map((name): [string, JsonSchema] => {
    const property = properties[name];
    const isOptional = !needed.has(name) || (isRecord(property) && "default" in property);
    return [name, isOptional && isOpenai ? nullable(inner(property)) : inner(property)];
  });
  return {
    properties: Object.fromEntries(made),
    required: isOpenai ? names : names.filter((name) => needed.has(name)),
    additionalProperties: false,
  };
}

function definitions(schema: JsonSchema, inner: (value: unknown) => JsonSchema): JsonSchema {
  const made: Record<string, unknown> = {};
  for (const key of ["$defs", "definitions"])
    if (isRecord(schema[key]))
      made[key] = Object.fromEntries(
        Object.entries(schema[key] as JsonSchema).map(([name, value]) => [name, inner(value)]),
      );
  return made;
}

function nullable(schema: JsonSchema): JsonSchema {
  if (takesNull(schema)) return schema;
  const { description, ...rest } = schema;
  const said = description === undefined ? {} : { description };
  if (Array.isArray(rest.anyOf) && Object.keys(rest).length === 1)
    return { ...said, anyOf: [...rest.anyOf, { type: "null" }] };
  const isPlain = typeof rest.type === "string" && !("enum" in rest) && !("const" in rest);
  if (isPlain) return { ...schema, type: [rest.type, "null"] };
  return { ...said, anyOf: [rest, { type: "null" }] };
}

function takesNull(schema: unknown): boolean {
  if (!isRecord(schema)) return true;
  const { type, enum: values, const: only, anyOf, oneOf, $ref: reference } = schema;
  const choices = (anyOf ?? oneOf) as unknown;
  if (Array.isArray(choices)) return choices.some(takesNull);
  if (Array.isArray(values)) return values.includes(null);
  if ("const" in schema) return only === null;
  if (reference !== undefined) return false;
  return type === undefined || type === "null" || (Array.isArray(type) && type.includes("null"));
}

/** The same value without the nulls that stand for absent properties; the value itself where there are none. */
export function withoutNulls<Value>(schema: unknown, value: Value): Value {
  if (!isRecord(schema)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutNulls(schema.items, item));
    return items.some((item, index) => item !== value[index]) ? (items as Value) : value;
  }
  const { properties, required } = schema;
  if (!isRecord(value) || !isRecord(properties)) return value;
  const needed = new Set(Array.isArray(required) ? required : []);
  const isAbsent = (name: string): boolean => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isRecord(property) || value[name] !== null || takesNull(property)) return false;
    return !needed.has(name) || "default" in property;
  };
  const kept = Object.entries(value)
    .filter(([name]) => !isAbsent(name))
    .map(([name, item]) => [name, withoutNulls(Object.hasOwn(properties, name) && properties[name], item)]);
  const isSame =
    kept.length === Object.keys(value).length && kept.every(([name, item]) => value[name as string] === item);
  return isSame ? value : (Object.fromEntries(kept) as Value);
}
