/**
 * Messages in the name of others, in keys that are not called `messages`: which channels of a graph hold messages only
 * the graph knows, so whatever would be such a message is refused wherever it stands.
 */
import { invalid } from "../../http/problems.ts";
import { hasCalls } from "../../runs/input/message-calls.ts";

/** Roles that give instructions or results: a client may not speak for them. */
const FOREIGN = /^(?:system|developer|tool|function)(?:Message)?(?:Chunk)?$/i;
const SPEAKING = /^(?:ai|assistant|human|user)(?:Message)?(?:Chunk)?$/i;
const REMOVAL = /^remove(?:Message)?$/i;

/** `where` is the key, for the words of the refusal. A channel takes one message or a list of them. */
export function refuseImpersonation(value: unknown, where: string): void {
  const list = Array.isArray(value) ? value : [value];
  for (const one of list) if (isImpersonatingTuple(one) || isRemoval(one)) throw refusal(where);
  refuseBelow(value, where);
}

function refuseBelow(value: unknown, where: string): void {
  if (typeof value !== "object" || value === null) return;
  if (isImpersonation(value as Record<string, unknown>)) throw refusal(where);
  for (const part of Object.values(value)) refuseBelow(part, where);
}

/** Where LangChain looks for what a message says. */
const CONTENTS = ["content", "contentBlocks", "content_blocks"];

function isImpersonation(value: Record<string, unknown>): boolean {
  if (!CONTENTS.some((key) => key in value)) return false;
  const roles = [value.role, value.type].filter((role) => typeof role === "string");
  if (roles.some((role) => FOREIGN.test(role))) return true;
  return roles.some((role) => SPEAKING.test(role)) && hasCalls(value);
}

function isImpersonatingTuple(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== "string") return false;
  return FOREIGN.test(value[0]) || (SPEAKING.test(value[0]) && hasCalls(value[1]));
}

/** Whether the value is a message that removes another one from a list. */
function isRemoval(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { role, type, id } = value as Record<string, unknown>;
  return typeof id === "string" && [role, type].some((role) => REMOVAL.test(String(role)));
}

function refusal(where: string) {
  return invalid(
    `${where.slice(0, 64)}: clients send messages of the user (or of the assistant, quoted) only, without tool calls.`,
  );
}
