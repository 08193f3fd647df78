/** Tells a model once that its sandbox is not the one it knew. */
import type { HeldSandbox } from "./lease-slot.ts";

const NOTE =
  "The sandbox of this conversation was replaced by a fresh one: files, programs and processes from before are gone.";

/** User of a sandbox: one conversation, or a program. */
export interface Conversation {
  /** By its first message; `""` for a program. */
  readonly id: string;
  /** Whether a command ran, or anything was done with files, before now. */
  readonly hasRun: boolean;
  readonly hasWorked: boolean;
}

const FILE_TOOLS = new Set([
  "ls",
  "read_file",
  "write_file",
  "edit_file",
  "delete",
  "glob",
  "grep",
  "execute",
]);

export function conversationOf(state: unknown): Conversation {
  const { messages } = (state ?? {}) as { readonly messages?: unknown };
  if (!Array.isArray(messages)) return { id: "", hasRun: false, hasWorked: false };
  const tools = messages.filter((message) => message?.type === "tool").map((message) => message.name);
  return {
    id: String(messages[0]?.id ?? ""),
    hasRun: tools.includes("execute"),
    hasWorked: tools.some((name) => FILE_TOOLS.has(name)),
  };
}

/** Users that were informed, by sandbox; one of these for each key. */
export class ReplacedNotes {
  readonly #informed = new Map<string, number>();

  /**
   * The words, the first time a conversation meets a sandbox that is not the one it had. Without a note of an earlier
   * one, a conversation that ran commands is taken to have had one: file tools may have worked elsewhere.
   */
  take({ isFresh, isReplacement, generation }: HeldSandbox, conversation: Conversation): string | undefined {
    const { id, hasRun, hasWorked } = conversation;
    const known = this.#informed.get(id);
    if (known === generation) return undefined;
    this.#informed.set(id, generation);
    if (!isFresh) return undefined;
    const knewAnother = known !== undefined || hasRun || (isReplacement && hasWorked);
    return knewAnother || (isReplacement && id === "") ? NOTE : undefined;
  }
}
