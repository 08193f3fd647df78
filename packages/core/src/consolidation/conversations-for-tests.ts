/** Conversations in memory, told by their words alone. For tests only. */
import type { ConversationFacts, ConversationMessage, ConversationSource } from "./conversations.ts";

export interface StoredConversation {
  readonly threadId: string;
  readonly updatedAt: string;
  readonly title?: string;
  /** The user's and the assistant's in turn. */
  readonly words: readonly string[];
}

export class ConversationsInMemory implements ConversationSource {
  readonly conversations: StoredConversation[] = [];
  readonly asked: string[] = [];

  constructor(...conversations: StoredConversation[]) {
    this.conversations.push(...conversations);
  }

  async list({ since = "", limit, after = "0" }: Parameters<ConversationSource["list"]>[0]) {
    this.asked.push("list");
    const all = this.newestFirst().filter(({ updatedAt }) => updatedAt > since);
    const end = Number(after) + limit;
    const conversations = all.slice(Number(after), end).map(factsOf);
    return { conversations, ...(end < all.length ? { next: String(end) } : {}) };
  }

  async read(threadId: string, { from = 0, limit = 50 } = {}) {
    this.asked.push(`read ${threadId}`);
    const found = this.conversations.find((one) => one.threadId === threadId);
    if (!found) return undefined;
    const messages = messagesOf(found);
    const next = from + limit < messages.length ? { next: from + limit } : {};
    return { messages: messages.slice(from, from + limit), total: messages.length, ...next };
  }

  async search(text: string, options: Parameters<ConversationSource["search"]>[1]) {
    const { limit, since = "", threadId } = options;
    const inScope = this.newestFirst().filter(
      (one) => one.updatedAt > since && (threadId === undefined || one.threadId === threadId),
    );
    const matches = inScope.flatMap((one) =>
      messagesOf(one)
        .filter((message) => message.text.toLowerCase().includes(text.toLowerCase()))
        .map((message) => ({ ...factsOf(one), message })),
    );
    return { matches: matches.slice(0, limit), searched: inScope.length, more: matches.length > limit };
  }

  private newestFirst(): StoredConversation[] {
    return [...this.conversations].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }
}

function factsOf({ threadId, title, updatedAt, words }: StoredConversation): ConversationFacts {
  return { threadId, title, startedAt: updatedAt, updatedAt, messageCount: words.length };
}

function messagesOf({ words }: StoredConversation): ConversationMessage[] {
  return words.map((text, index) => ({ index, role: index % 2 === 0 ? "user" : "assistant", text }));
}
