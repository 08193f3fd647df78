/** Conversations that a run has to review. */
import type { ConversationFacts, ConversationSource } from "./conversations.ts";
import { type MemoryRecord, OVERLAP_MS } from "./memory-record.ts";

const PAGE = 200;

export interface NewConversations {
  /** Oldest first: the next run goes on where they end. */
  readonly conversations: readonly ConversationFacts[];
  /** How many more there are. */
  readonly remaining: number;
}

/** Conversations that continued since the last finished run, and after `since`. */
export async function newConversations(
  run: {
    readonly conversations: ConversationSource;
    readonly maxConversations: number;
    readonly signal: AbortSignal | undefined;
  },
  { until, reviewed = {} }: MemoryRecord,
  since: string | undefined,
): Promise<NewConversations> {
  const seen = until === undefined ? undefined : new Date(Date.parse(until) - OVERLAP_MS).toISOString();
  const from = [seen, since]
    .filter((moment) => moment !== undefined)
    .sort()
    .at(-1);
  const found: ConversationFacts[] = [];
  let after: string | undefined;
  do {
    const page = await run.conversations.list({
      limit: PAGE,
      ...(from === undefined ? {} : { since: from }),
      ...(after === undefined ? {} : { after }),
      ...(run.signal ? { signal: run.signal } : {}),
    });
    found.push(...page.conversations.filter(({ threadId, updatedAt }) => reviewed[threadId] !== updatedAt));
    after = page.next;
  } while (after !== undefined);
  const conversations = found.reverse().slice(0, run.maxConversations);
  return { conversations, remaining: found.length - conversations.length };
}
