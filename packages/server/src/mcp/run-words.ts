/** Texts about a run for an MCP client. Pure. */
import { visibleLine } from "deepwright/console-line";

export interface RunAnswer {
  readonly status: "success" | "interrupted" | "error";
  readonly answer: string;
  readonly waits_for?: readonly unknown[];
}

interface Message {
  readonly type?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly name?: unknown }[];
}

/** `outcome` is the result of waiting for the run. */
export function runAnswer(outcome: unknown): RunAnswer {
  const {
    __error__: error,
    __interrupt__: interrupts,
    messages,
  } = (outcome ?? {}) as Record<string, unknown>;
  if (error !== undefined) {
    const { message } = error as { message?: unknown };
    return { status: "error", answer: `The run failed: ${String(message ?? "the server's log says why")}` };
  }
  const waits = Array.isArray(interrupts)
    ? interrupts.map((one) => (one as { value?: unknown }).value ?? null)
    : [];
  if (waits.length > 0)
    return {
      status: "interrupted",
      answer:
        "It waits for a person's decision, to be given to the server it runs on; then the thread can go on.",
      waits_for: waits,
    };
  const own = (Array.isArray(messages) ? (messages as Message[]) : []).filter(({ type }) => type === "ai");
  return { status: "success", answer: textOf(own.at(-1)?.content) };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { text?: unknown }) => (typeof block?.text === "string" ? block.text : ""))
    .join("");
}

const MOST_WORDS = 200;

/** Reads the JSON of an update: the called tools, or the node that ended; undefined where there is nothing to say. */
export function stepWords(json: string): string | undefined {
  const update = JSON.parse(json) as Record<string, { messages?: readonly Message[] } | null>;
  for (const part of Object.values(update ?? {})) {
    const calls = (part?.messages ?? []).flatMap((message) => message.tool_calls ?? []);
    if (calls.length > 0)
      return visibleLine(`calls ${calls.map(({ name }) => String(name)).join(", ")}`, MOST_WORDS);
  }
  return undefined;
}
