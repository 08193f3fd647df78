/** A server in configuration: the form that `.mcp.json` has in other programs too. */

import { isRecord } from "deepwright/check-options";
import { visibleLine } from "deepwright/console-line";
import { ConfigurationError } from "deepwright/errors";
import { z } from "zod";

const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character");
const names = z.array(text.min(1)).readonly();

const common = {
  /** It is known and not used. */
  disabled: z.boolean().optional(),
  /** Milliseconds a call may take. */
  timeout: z
    .number()
    .int()
    .min(1_000, "is in milliseconds, and at least 1000")
    .max(86_400_000, "is in milliseconds, and at most a day")
    .optional(),
  /** Only these tools are used, by the names the server gives them. */
  allowedTools: names.optional(),
  /** Tools that are not used. */
  deniedTools: names.optional(),
};

const stdio = z.strictObject({
  ...common,
  type: z.literal("stdio").optional(),
  command: text.min(1),
  args: z.array(text).readonly().optional(),
  env: z
    .record(
      text.refine((name) => /^[^=]+$/.test(name), "must be a name"),
      text,
    )
    .optional(),
  cwd: text.min(1).optional(),
  /** The named files that the server changes itself: trust does not cover their content. */
  dataFiles: names.optional(),
});

const http = z.strictObject({
  ...common,
  type: z.enum(["http", "streamable-http", "sse"]).optional(),
  url: text.min(1),
  headers: z.record(text, text).optional(),
  /** It may be on this machine or in a private network. */
  allowPrivate: z.boolean().optional(),
});

/** Switches off a server of the same name that another file has. */
const off = z.strictObject({ disabled: z.literal(true) });

export type StdioDefinition = z.infer<typeof stdio>;
export type HttpDefinition = z.infer<typeof http>;
export type McpServerDefinition = StdioDefinition | HttpDefinition | z.infer<typeof off>;

const NAME = /^[^\p{C}\p{Z}][^\p{C}]{0,63}$/u;

/** Throws for a definition that it does not understand, with the position and the expected form. */
export function readDefinitions(given: unknown, origin: string): Record<string, McpServerDefinition> {
  if (!isRecord(given)) throw invalid(origin, "the servers must be an object of definitions by name");
  const definitions: Record<string, McpServerDefinition> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!NAME.test(name) || name === "__proto__")
      throw invalid(origin, `'${visibleLine(name, 80)}' cannot be the name of a server`);
    definitions[name] = readDefinition(value, `${origin}, server '${visibleLine(name)}'`);
  }
  return definitions;
}

function readDefinition(value: unknown, origin: string): McpServerDefinition {
  if (!isRecord(value)) throw invalid(origin, "the definition must be an object");
  const isHttp = "url" in value;
  if (isHttp && "command" in value) throw invalid(origin, "has both 'command' and 'url': give one of them");
  const isOff = !isHttp && !("command" in value) && value.disabled === true;
  if (!isHttp && !isOff && !("command" in value))
    throw invalid(origin, "needs 'command' (a program to start) or 'url' (a server to call)");
  const result = (isOff ? off : isHttp ? http : stdio).safeParse(value);
  if (result.success) return result.data;
  throw invalid(origin, result.error.issues.map(issueWords).join("; "));
}

function issueWords(issue: z.core.$ZodIssue): string {
  const place = issue.path.map((part) => visibleLine(String(part), 80)).join(".");
  if (issue.code === "unrecognized_keys")
    return `unknown key ${issue.keys.map((key) => `'${visibleLine(key, 80)}'`).join(", ")}`;
  return `'${place}' ${visibleLine(issue.message, 200).replace(/^Invalid input: /, "")}`;
}

/** The text of a config file: `{"mcpServers": {…}}`. */
export function readConfig(source: string, origin: string): Record<string, McpServerDefinition> {
  let given: unknown;
  try {
    given = JSON.parse(source.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw invalid(origin, `is not JSON (${visibleLine((cause as Error).message, 200)})`, cause);
  }
  if (!isRecord(given)) throw invalid(origin, 'must be {"mcpServers": {…}}');
  const { mcpServers = {}, $schema: _, ...rest } = given;
  const unknown = Object.keys(rest);
  if (unknown.length > 0)
    throw invalid(
      origin,
      `unknown key ${unknown.map((key) => `'${visibleLine(key, 80)}'`).join(", ")}; servers stand in 'mcpServers'`,
    );
  return readDefinitions(mcpServers, origin);
}

function invalid(origin: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `MCP: ${origin}: ${problem}.`, { cause });
}
