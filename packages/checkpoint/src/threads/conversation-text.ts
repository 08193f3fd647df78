/** Messages as the words that were said. */

export interface ConversationText {
  readonly index: number;
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly text: string;
}

const ROLES: Readonly<Record<string, ConversationText["role"]>> = {
  human: "user",
  ai: "assistant",
  tool: "tool",
  function: "tool",
  system: "system",
};

/** Messages without words are left out; the others keep their index in the thread. */
export function messageTexts(messages: readonly unknown[]): ConversationText[] {
  return messages.flatMap((message, index) => {
    const role = ROLES[String((message as { type?: unknown } | null)?.type)];
    const text = role === undefined ? "" : wordsOf(message as SaidMessage).trim();
    return role === undefined || text === "" ? [] : [{ index, role, text }];
  });
}

interface SaidMessage {
  readonly content?: unknown;
  readonly name?: unknown;
  readonly type: string;
  readonly tool_calls?: readonly { readonly name?: unknown; readonly args?: unknown }[];
}

const MOST_ARGUMENTS = 300;

function wordsOf({ content, name, type, tool_calls: calls }: SaidMessage): string {
  const said = contentText(content);
  const label = type === "tool" && typeof name === "string" ? `${name}: ` : "";
  const called = (Array.isArray(calls) ? calls : []).map((call) => {
    const args = JSON.stringify(call?.args ?? {});
    const shown = args.length > MOST_ARGUMENTS ? `${args.slice(0, MOST_ARGUMENTS).toWellFormed()}…` : args;
    return `calls ${String(call?.name)} ${shown}`;
  });
  return [label + said, ...called].filter((part) => part !== "").join("\n");
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map(blockText)
    .filter((text) => text !== "")
    .join("\n");
}

/** Thoughts are not what was said. */
function blockText(block: unknown): string {
  if (typeof block === "string") return block;
  const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
  if (typeof text === "string" && (type === undefined || type === "text")) return text;
  const isMedium = /^(?:image|audio|video|file|input_audio|document)/.test(String(type));
  return isMedium ? `[${String(type)}]` : "";
}

const AROUND = 300;

/** Text around the first occurrence; undefined where there is none. */
export function excerptOf(text: string, wanted: string): string | undefined {
  const place = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (place === -1) return undefined;
  const [from, to] = [Math.max(place - AROUND, 0), place + wanted.length + AROUND];
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`.toWellFormed();
}
