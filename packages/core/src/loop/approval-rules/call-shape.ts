/** The exact identity of a call: agent, tool and arguments. The order of keys does not count. */

import type { ToolCall } from "@langchain/core/messages";
import { sha256 } from "@langchain/core/utils/hash";
import { isRecord } from "../../check-options.ts";
import { PATH_ARGUMENTS } from "../../internal-symbols.ts";
import { canonicalPath } from "../../paths.ts";

/** The same tool with a list of its arguments that are paths. */
export function withPathArguments<Tool extends object>(tool: Tool, names: readonly string[]): Tool {
  return Object.defineProperty(tool, PATH_ARGUMENTS, { value: names, enumerable: true });
}

/** The same arguments, absolute paths in their one spelling. Where a relative path leads only the backend knows. */
export function withCanonicalPaths(
  tool: unknown,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const name of (tool as { [PATH_ARGUMENTS]?: readonly string[] } | undefined)?.[PATH_ARGUMENTS] ?? []) {
    const path = args[name];
    if (typeof path !== "string" || !path.startsWith("/")) continue;
    const canonical = canonicalPath(path);
    if (canonical.error === undefined) changed[name] = canonical.path;
  }
  return { ...args, ...changed };
}

export interface CallShape {
  /** Two calls have the same one if, and only if, they are the same. */
  readonly id: string;
  /** For people: the tool and its arguments. */
  readonly text: string;
}

export function callShape(
  agentPath: readonly string[],
  call: Pick<ToolCall, "name" | "args">,
  tool: unknown,
): CallShape {
  const args = canonicalJson(withCanonicalPaths(tool, call.args ?? {}));
  const id = sha256(`${JSON.stringify([agentPath, call.name])}${args}`);
  return { id, text: `${call.name} ${args}` };
}

/** The shape an approval is remembered by: `place` is where the call takes effect; undefined: that is everywhere. */
export function shapeAt(shape: CallShape, place: string | undefined): CallShape {
  return place === undefined ? shape : { ...shape, id: sha256(JSON.stringify([shape.id, place])) };
}

/** The shape of a call that reads files. A remembered approval applies to their present content. */
export function withInputs(
  shape: CallShape,
  inputs: readonly { readonly path: string; readonly hash: string }[] = [],
): CallShape {
  if (inputs.length === 0) return shape;
  const files = inputs.map(({ path, hash }) => [path, hash]);
  return { ...shape, id: sha256(JSON.stringify([shape.id, files])) };
}

/** JSON with the keys of every object in order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (isRecord(item) ? sorted(item) : item)) ?? "null";
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype: `__proto__` is a key like any other.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(record).sort()) copy[key] = record[key];
  return copy;
}
