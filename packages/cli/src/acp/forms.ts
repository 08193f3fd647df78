/** A question of an agent (`interrupt()`) as a form of the editor. */
import type { CreateElicitationRequest } from "@agentclientprotocol/sdk";
import { isRecord } from "deepwright/check-options";
import { safeText } from "../terminal/safe-text.ts";
import type { Editor } from "./editor.ts";

const MOST_OPTIONS = 50;

/** Undefined: the person gave no answer. */
export async function answerFrom(
  editor: Editor,
  sessionId: string,
  value: unknown,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options = optionsIn(value);
  const answer = { type: "string", title: "Answer", ...(options.length > 0 && { enum: [...options] }) };
  const request = {
    mode: "form",
    sessionId,
    message: questionWords(value),
    requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
  } as CreateElicitationRequest;
  const response = await editor.elicit(request, signal);
  if (response.action !== "accept") return undefined;
  const given = (response as { content?: Record<string, unknown> | null }).content?.answer;
  if (typeof given !== "string") return undefined;
  return options.length === 0 || options.includes(given) ? given : undefined;
}

/** The question as text: a string, or the field that holds it, or the whole value. */
export function questionWords(value: unknown): string {
  const asked = isRecord(value) ? (value.question ?? value.message) : value;
  return safeText(typeof asked === "string" ? asked : (JSON.stringify(value, undefined, 2) ?? "null"));
}

function optionsIn(value: unknown): readonly string[] {
  const options = isRecord(value) ? (value.options ?? value.choices) : undefined;
  if (!Array.isArray(options) || options.length > MOST_OPTIONS) return [];
  return options.every((option) => typeof option === "string") ? options : [];
}
