/** The title of a thread and the text that a search looks through, from its messages. Pure. */

export interface ThreadWords {
  /** The first line that the user wrote; null: there is none. */
  readonly title: string | null;
  /** Lower case: the first message of the user, then the newest messages. */
  readonly words: string | null;
}

const MOST_TITLE = 80;
const MOST_WORDS = 24_000;
const NONE: ThreadWords = { title: null, words: null };

export function threadWords(values: unknown): ThreadWords {
  const messages = (values as { readonly messages?: unknown } | null | undefined)?.messages;
  if (!Array.isArray(messages)) return NONE;
  const first = messages.find((message) => kindOf(message) === "user");
  const title = titleOf(textOf(first));
  const parts = [textOf(first)];
  let left = MOST_WORDS - (parts[0] as string).length;
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    if (kindOf(messages[at]) === undefined || messages[at] === first) continue;
    const text = textOf(messages[at]);
    parts.push(text);
    left -= text.length;
  }
  const words = parts.join("\n").slice(0, MOST_WORDS).toWellFormed().replaceAll("\0", "").toLowerCase();
  return { title, words };
}

export function titleOf(text: string): string | null {
  const line = text
    .slice(0, 4 * MOST_TITLE)
    .toWellFormed()
    .split(/[\n\r\u2028\u2029]/)
    .map((each) => each.replaceAll(/[\p{Cc}\p{Cf}]/gu, "").trim())
    .find(Boolean);
  if (line === undefined) return null;
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE - 1).toWellFormed()}…` : line;
}

/** Words of a search; all of them must be there. */
export function searchedWords(text: string): readonly string[] {
  return text.toLowerCase().replaceAll("\0", "").split(/\s+/).filter(Boolean).slice(0, 8);
}

/** As clients send messages, as they are stored, and as LangChain holds them. */
function kindOf(message: unknown): "user" | "assistant" | undefined {
  const { type, role } = (message ?? {}) as { readonly type?: unknown; readonly role?: unknown };
  const kind = typeof type === "string" && type !== "constructor" ? type : role;
  if (kind === "human" || kind === "user") return "user";
  return kind === "ai" || kind === "assistant" || kind === "AIMessageChunk" ? "assistant" : undefined;
}

function textOf(message: unknown): string {
  const { content } = (message ?? {}) as { readonly content?: unknown };
  if (typeof content === "string") return content.slice(0, MOST_WORDS);
  if (!Array.isArray(content)) return "";
  const texts = content.map((block) => (block as { readonly text?: unknown } | null)?.text);
  return texts
    .filter((text) => typeof text === "string")
    .join("\n")
    .slice(0, MOST_WORDS);
}
