import type { BaseMessage } from "@langchain/core/messages";

/** The parts of a conversation that do not depend on wording: who spoke, and which tools were called. */
export function outline(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    if (message.getType() === "tool") return `tool ${message.name}`;
    const calls = (message as { tool_calls?: { name: string }[] }).tool_calls ?? [];
    const names = calls.map((one) => one.name).join(", ");
    return names === "" ? `${message.getType()}: ${message.text}` : `${message.getType()} calls ${names}`;
  });
}

/** The texts of all results of a tool, oldest first. */
export function results(messages: readonly BaseMessage[], tool: string): string[] {
  return messages
    .filter((message) => message.getType() === "tool" && message.name === tool)
    .map((message) => message.text);
}

/** A result of a backend without its wording: errors become `true`, and codes beside them are left out. */
export function withoutWords<T extends object>(result: T): Record<string, unknown> {
  const entries = Object.entries(result).filter(([key, value]) => key !== "code" && value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => (key === "error" ? [key, !!value] : [key, value])));
}

/** `"ok"`, or the class and the code of the error that the function throws. */
export async function failure(run: () => unknown): Promise<unknown> {
  try {
    await run();
    return "ok";
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string };
    return code === undefined ? { threw: name } : { threw: name, code };
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
