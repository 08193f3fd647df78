/** Completion checks of todos: what the model writes, in which form it is compared, and what is wrong with it. Pure. */
import { z } from "zod";
import { isRecord } from "../check-options.ts";
import { showPath } from "../paths.ts";
import { type Todo, todoSchema } from "../tools/write-todos.ts";

export const checkSchema = z.object({
  command: z.string().optional().describe("Shell command that must exit with 0"),
  file: z.string().optional().describe("Path of a file that must be there"),
  contains: z.string().optional().describe("Text that the file must contain"),
  absent: z.boolean().optional().describe("The file must not be there"),
  json_schema: z.string().optional().describe("JSON schema, as JSON text, that the file must fit"),
});

export type Check = z.infer<typeof checkSchema>;

export const checkedTodoSchema = todoSchema.extend({ check: checkSchema.optional() });

export interface CheckedTodo extends Todo {
  readonly check?: Check | undefined;
}

export const MOST_CHECKS = 50;
const LONGEST = 10_000;

/** Two checks with the same key are the same check. */
export function checkKey({ command, file, contains, absent, json_schema: schema }: Check): string {
  return JSON.stringify([command, file, contains, absent === true ? true : undefined, schema]);
}

/** The demand of the check, in one line for the model and for a person. */
export function checkWords({ command, file, contains, absent, json_schema: schema }: Check): string {
  if (command !== undefined) return `\`${short(command)}\` exits with 0`;
  const path = showPath(file ?? "");
  if (absent) return `${path} is absent`;
  if (contains !== undefined) return `${path} contains ${JSON.stringify(short(contains))}`;
  return schema === undefined ? `${path} is there` : `${path} fits its JSON schema`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= 200 ? line : `${line.slice(0, 200)}…`;
}

/** Why the check cannot be run at all; undefined: it can. */
export function checkProblem(check: Check): string | undefined {
  const { command, file, contains, absent, json_schema: schema } = check;
  if ((command === undefined) === (file === undefined)) return "it needs either `command` or `file`";
  const conditions = [contains, absent === true ? true : undefined, schema].filter(
    (one) => one !== undefined,
  );
  if (command !== undefined && conditions.length > 0)
    return "`contains`, `absent` and `json_schema` go with `file`";
  if (conditions.length > 1) return "it takes one of `contains`, `absent` and `json_schema`";
  if ([command, file].some((text) => text?.trim() === "")) return "`command` and `file` cannot be empty";
  if ([command, file, contains, schema].some((text) => (text ?? "").length > LONGEST))
    return `its texts can have ${LONGEST} characters`;
  return schema === undefined ? undefined : schemaProblem(schema);
}

function schemaProblem(text: string): string | undefined {
  const schema = jsonOf(text);
  if (!isRecord(schema)) return "`json_schema` must be an object, as JSON text";
  const stranger = unknownKeyword(schema);
  return stranger === undefined
    ? undefined
    : `\`json_schema\` cannot use '${stranger}'; it can use ${[...KEYWORDS].join(", ")}`;
}

/** Undefined for text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Keywords that take time in proportion to the file: no patterns, no references. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "allOf"],
  ...["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "title"],
  ...["maxProperties", "description", "$schema"],
]);

function unknownKeyword(schema: Readonly<Record<string, unknown>>): string | undefined {
  const own = Object.keys(schema).find((key) => !KEYWORDS.has(key));
  if (own !== undefined) return own;
  const { properties, items, additionalProperties, anyOf, allOf } = schema;
  const inside = [...Object.values(isRecord(properties) ? properties : {}), items, additionalProperties];
  for (const list of [anyOf, allOf]) if (Array.isArray(list)) inside.push(...list);
  for (const one of inside) {
    const found = isRecord(one) ? unknownKeyword(one) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
