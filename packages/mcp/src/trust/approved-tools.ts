/** The agreed descriptions of one server's tools, and the tools that changed since. Pure. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ToolDescription } from "../tools/offered-tool.ts";
import { canonicalJson } from "./canonical-json.ts";
import { toolDescription } from "./tool-description.ts";

const change = z.object({
  name: z.string(),
  /** The agreed description; absent: only its hash is known. */
  before: toolDescription.optional(),
  now: toolDescription,
});

/** Lists, not records: names are the server's, and any text may be one. */
export const serverTools = z.object({
  server: z.string(),
  /** Names and hashes. */
  approved: z.array(z.tuple([z.string(), z.string()])),
  pending: z.array(change),
});

export type ServerTools = z.infer<typeof serverTools>;
export type ToolChange = z.infer<typeof change>;

/** Covers everything a model or a person sees of the tool, and its claim that it only reads. */
export function toolHash({ title, description, inputSchema, annotations }: ToolDescription): string {
  const essence = [title ?? "", description ?? "", inputSchema, annotations?.readOnlyHint === true];
  return createHash("sha256").update(canonicalJson(essence)).digest("hex");
}

/**
 * The first description of a tool is agreed to with its server. Removed tools stay known: a tool that returns with
 * another description has changed. Returns the same value if nothing is new.
 */
export function withListed(
  known: ServerTools | undefined,
  server: string,
  listed: readonly ToolDescription[],
  before: readonly ToolDescription[],
): ServerTools {
  const approved = new Map(known?.approved);
  const pending = new Map(known?.pending.map((one) => [one.name, one]));
  let isSame = known !== undefined;
  for (const tool of listed) {
    const [hash, agreed, waiting] = [toolHash(tool), approved.get(tool.name), pending.get(tool.name)];
    if (agreed === hash) {
      if (pending.delete(tool.name)) isSame = false;
      continue;
    }
    if (waiting !== undefined && toolHash(waiting.now) === hash) continue;
    isSame = false;
    if (agreed === undefined) approved.set(tool.name, hash);
    else
      pending.set(
        tool.name,
        changeOf(tool, agreed, [...before, ...(waiting?.before ? [waiting.before] : [])]),
      );
  }
  if (known !== undefined && isSame) return known;
  return { server, approved: [...approved], pending: [...pending.values()] };
}

function changeOf(now: ToolDescription, agreed: string, seen: readonly ToolDescription[]): ToolChange {
  const before = seen.find((tool) => tool.name === now.name && toolHash(tool) === agreed);
  return change.parse({ name: now.name, now, ...(before && { before }) });
}

/** Agrees to the present description of the tool. */
export function withoutChange(known: ServerTools | undefined, server: string, tool: string): ServerTools {
  const { approved = [], pending = [] } = known ?? {};
  const agreed = pending.find(({ name }) => name === tool);
  if (known === undefined || agreed === undefined) return known ?? { server, approved: [], pending: [] };
  return {
    server,
    approved: [...approved.filter(([name]) => name !== tool), [tool, toolHash(agreed.now)]],
    pending: pending.filter(({ name }) => name !== tool),
  };
}
