import type { BaseMessage } from "@langchain/core/messages";

/** The parts of a conversation that do not depend on wording: who spoke, and which tools were called. */
export function outline(messages: readonly BaseMessage[]): string[] {
  const tools = toolNames(messages);
  return messages.map((message) => {
    if (message.getType() === "tool") return `tool ${tools.get(callId(message))}`;
    const names = callsOf(message)
      .map((one) => one.name)
      .join(", ");
    return names === "" ? `${message.getType()}: ${message.text}` : `${message.getType()} calls ${names}`;
  });
}

/** The texts of all results of a tool, oldest first. */
export function results(messages: readonly BaseMessage[], tool: string): string[] {
  const tools = toolNames(messages);
  return messages
    .filter((message) => message.getType() === "tool" && tools.get(callId(message)) === tool)
    .map((message) => message.text);
}

/** The tool of every call. Not all results carry the name themselves. */
function toolNames(messages: readonly BaseMessage[]): Map<string | undefined, string> {
  return new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, name] as const)));
}

function callsOf(message: BaseMessage): { id?: string; name: string }[] {
  return (message as { tool_calls?: { id?: string; name: string }[] }).tool_calls ?? [];
}

function callId(message: BaseMessage): string | undefined {
  return (message as { tool_call_id?: string }).tool_call_id;
}

/** A result of a backend without its wording: errors become `true`, and codes beside them are left out. */
export function withoutWords<T extends object>(result: T): Record<string, unknown> {
  const entries = Object.entries(result).filter(([key, value]) => key !== "code" && value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => (key === "error" ? [key, !!value] : [key, value])));
}

/** Whether the function succeeds. */
export async function outcome(run: () => unknown): Promise<"ok" | "threw"> {
  try {
    await run();
    return "ok";
  } catch {
    return "threw";
  }
}

/** Replaces dates, which differ between runs. */
export function withoutDates<T>(value: T): T {
  const text = JSON.stringify(value, (_, inner) => (inner instanceof Uint8Array ? bytes(inner) : inner));
  return text === undefined ? value : JSON.parse(text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<date>"));
}

export function bytes(content: Uint8Array | string | null | undefined): unknown {
  return content instanceof Uint8Array ? { bytes: [...content] } : content;
}
