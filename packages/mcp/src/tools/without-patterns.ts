/**
 * A schema without patterns: they are programs of somebody else, and some run for years on thirty characters. The model
 * reads them as words, and who made the schema checks what it is called with.
 *
 * Without a pattern a schema takes more, so what forbids by schemas inside it (`not`, `if`, `oneOf`) is loosened too.
 */
type Schema = Readonly<Record<string, unknown>>;

export function withoutPatterns(schema: Schema): Schema {
  return hasPattern(schema) ? (loosened(schema) as Schema) : schema;
}

/** Names of arguments and definitions, whatever they are called, with a schema each. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);
/** Keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);
const PATTERNS: ReadonlySet<string> = new Set(["pattern", "patternProperties"]);
const FORBIDDING: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

function hasPattern(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasPattern);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([key, value]) => {
    if (PATTERNS.has(key)) return true;
    if (DATA.has(key)) return false;
    return NAMED.has(key) && isObject(value) ? Object.values(value).some(hasPattern) : hasPattern(value);
  });
}

function loosened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(loosened);
  if (!isObject(schema)) return schema;
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (PATTERNS.has(key) || FORBIDDING.has(key) || key === "oneOf") continue;
    // Names that a pattern would have allowed.
    if (key === "additionalProperties" && "patternProperties" in schema) continue;
    if (DATA.has(key)) kept.push([key, value]);
    else if (NAMED.has(key) && isObject(value))
      kept.push([key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, loosened(one)]))]);
    else kept.push([key, loosened(value)]);
  }
  const { oneOf, allOf, pattern } = schema;
  if (oneOf !== undefined) {
    const others = Array.isArray(allOf) ? allOf.map(loosened) : [];
    kept.push(["allOf", [...others, { anyOf: loosened(oneOf) }]]);
  }
  if (typeof pattern === "string") kept.push(["description", described(schema.description, pattern)]);
  return Object.fromEntries(kept);
}

const MOST_WORDS = 200;

function described(description: unknown, pattern: string): string {
  const shown = pattern.length > MOST_WORDS ? `${pattern.slice(0, MOST_WORDS - 1)}…` : pattern;
  const words = typeof description === "string" && description !== "" ? `${description} ` : "";
  return `${words}Must match: ${shown}`;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
