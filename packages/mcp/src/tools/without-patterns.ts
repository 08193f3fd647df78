/**
 * Removes regular expressions from the JSON schema of a tool.
 *
 * A hostile server can send an expression that takes years to match thirty characters. The model reads the expression
 * in the description instead, and the server checks the arguments.
 *
 * A schema without its pattern accepts more. A keyword such as `not` would then refuse valid arguments, so keywords that
 * forbid are removed too, and `oneOf` becomes `anyOf`.
 */
type Schema = Readonly<Record<string, unknown>>;

export function withoutPatterns(schema: Schema): Schema {
  return hasPattern(schema) ? (loosened(schema) as Schema) : schema;
}

/** Keywords whose value maps free names to schemas. */
const MAPS_OF_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);
/** Keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "required"]);
const PATTERNS: ReadonlySet<string> = new Set(["pattern", "patternProperties"]);
/** Keywords that refuse more when the schema inside them accepts more. */
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
    return MAPS_OF_SCHEMAS.has(key) && isObject(value)
      ? Object.values(value).some(hasPattern)
      : hasPattern(value);
  });
}

function loosened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(loosened);
  if (!isObject(schema)) return schema;
  const kept: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (PATTERNS.has(key) || FORBIDDING.has(key) || key === "oneOf") continue;
    // Without `patternProperties`, it would refuse the names that the patterns allow.
    if (key === "additionalProperties" && "patternProperties" in schema) continue;
    if (DATA.has(key)) kept.push([key, value]);
    else if (MAPS_OF_SCHEMAS.has(key) && isObject(value))
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

/** Characters of a pattern in a description. */
const MOST_CHARACTERS = 200;

function described(description: unknown, pattern: string): string {
  const shown = pattern.length > MOST_CHARACTERS ? `${pattern.slice(0, MOST_CHARACTERS - 1)}…` : pattern;
  const words = typeof description === "string" && description !== "" ? `${description} ` : "";
  return `${words}Must match: ${shown}`;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
