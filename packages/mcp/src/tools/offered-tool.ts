/** Checks the description of a tool by its server: the part for models, or the reason to leave the tool out. */

import { hasHidden, visibleLine, visibleText } from "deepwright/console-line";
import { toolNameFor } from "./tool-names.ts";
import { withoutPatterns } from "./without-patterns.ts";

/** As the protocol has it. */
export interface ToolDescription {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations | undefined;
}

/** Unchecked claims of the server about its tool. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

export interface OfferedTool extends ToolDescription {
  /** The name for the model. */
  readonly name: string;
  /** The name on the server. */
  readonly original: string;
  readonly server: string;
}

export function saysItReads({ annotations }: ToolDescription): boolean {
  return annotations?.readOnlyHint === true;
}

const MOST_DESCRIPTION = 4_096;
const MOST_SCHEMA_BYTES = 64 * 1024;
/** Most parts of a schema with its references resolved. */
const MOST_SCHEMA_PARTS = 5_000;
const MOST_DEPTH = 32;

export type CheckedTool = { readonly tool: OfferedTool } | { readonly refused: string };

export function checkedTool(server: string, given: ToolDescription): CheckedTool {
  const { name: original, description = "", inputSchema, annotations, title } = given;
  if (original === "") return { refused: "it has no name" };
  const problem = schemaProblem(inputSchema);
  if (problem !== undefined) return { refused: problem };
  const words = visibleText(description || title || "");
  return {
    tool: {
      name: toolNameFor(server, original),
      original,
      server,
      description: words.length > MOST_DESCRIPTION ? `${words.slice(0, MOST_DESCRIPTION - 1)}…` : words,
      inputSchema: withoutPatterns(spelledOut(inputSchema) as ToolDescription["inputSchema"]),
      ...(annotations && { annotations }),
    },
  };
}

function schemaProblem(schema: unknown): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema) ?? "");
  if (bytes > MOST_SCHEMA_BYTES) return `its schema has ${bytes} bytes, more than ${MOST_SCHEMA_BYTES}`;
  const { $defs, definitions } = schema as { $defs?: object; definitions?: object };
  const named = { ...definitions, ...$defs } as Record<string, unknown>;
  let parts = 0;
  const walk = (value: unknown, key: string, depth: number, open: readonly string[]): string | undefined => {
    parts += 1;
    if (parts > MOST_SCHEMA_PARTS || depth > MOST_DEPTH) return "its schema is too large";
    if (typeof value === "string") return hasHidden(value) && !WORDS.has(key) ? HIDDEN : undefined;
    if (typeof value !== "object" || value === null) return undefined;
    const { $ref } = value as { $ref?: unknown };
    const target = typeof $ref === "string" ? /^#\/(?:\$defs|definitions)\/(.+)$/.exec($ref)?.[1] : undefined;
    if (target !== undefined && !open.includes(target) && Object.hasOwn(named, target)) {
      const inside = walk(named[target], "", depth + 1, [...open, target]);
      if (inside !== undefined) return inside;
    }
    for (const [inner, one] of Object.entries(value)) {
      if (hasHidden(inner)) return HIDDEN;
      const problem = walk(one, Array.isArray(value) ? key : inner, depth + 1, open);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return walk(schema, "", 0, []);
}

const HIDDEN = "its schema has invisible characters";
/** Keys with text for the model that validators ignore. */
const WORDS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

function spelledOut(value: unknown, key = ""): unknown {
  if (typeof value === "string") return WORDS.has(key) ? visibleText(value) : value;
  if (Array.isArray(value)) return value.map((one) => spelledOut(one, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, spelledOut(one, inner)]));
}

/** Sorted by name, each name once. Omitted tools are reported. */
export function offeredTools(
  server: string,
  given: readonly ToolDescription[],
  onRefused: (message: string) => void,
): readonly OfferedTool[] {
  const byName = new Map<string, OfferedTool>();
  const refuse = (name: string, why: string): void =>
    onRefused(`The tool '${visibleLine(name, 80)}' of '${visibleLine(server)}' is left out: ${why}.`);
  for (const one of given) {
    const checked = checkedTool(server, one);
    if ("refused" in checked) refuse(one.name, checked.refused);
    else if (byName.has(checked.tool.name))
      refuse(one.name, `another one is called ${checked.tool.name} too`);
    else byName.set(checked.tool.name, checked.tool);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
