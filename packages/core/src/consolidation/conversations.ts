/**
 * Conversations an agent had, as a reviewer sees them: which there are, what was said, where a text occurs.
 *
 * A source shows the threads of its scope and no others, whichever way it is asked. Times are ISO 8601.
 */

export interface ConversationFacts {
  readonly threadId: string;
  /** One line: the title, or how it began. */
  readonly title: string | undefined;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly messageCount: number;
}

export interface ConversationQuery {
  /** Only those that went on after this moment. */
  readonly since?: string;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

/** The one that went on last comes first. */
export interface ConversationList {
  readonly conversations: readonly ConversationFacts[];
  /** Absent on the last page. */
  readonly next?: string;
}

export interface ConversationMessage {
  /** Its place in the thread, from 0. */
  readonly index: number;
  readonly role: "user" | "assistant" | "tool" | "system";
  /** The words, and for calls of tools their names and arguments. Media are named, not shown. */
  readonly text: string;
}

export interface ConversationPage {
  readonly messages: readonly ConversationMessage[];
  /** Messages of the whole thread. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly next?: number;
}

export interface ConversationMatch {
  readonly threadId: string;
  readonly title: string | undefined;
  readonly updatedAt: string;
  /** Its text is what stands around the first occurrence. */
  readonly message: ConversationMessage;
}

export interface ConversationMatches {
  readonly matches: readonly ConversationMatch[];
  /** How many threads were looked through. */
  readonly searched: number;
  /** There are more matches, or threads that were not looked through. */
  readonly more: boolean;
}

export interface ConversationSource {
  list(query: ConversationQuery): Promise<ConversationList>;
  /** Undefined for a thread that is not there or out of scope. */
  read(
    threadId: string,
    options?: { readonly from?: number; readonly limit?: number; readonly signal?: AbortSignal },
  ): Promise<ConversationPage | undefined>;
  /** `text` is literal; upper and lower case count as the same. Newest threads first. */
  search(
    text: string,
    options: {
      readonly limit: number;
      readonly since?: string;
      /** This one only. */
      readonly threadId?: string;
      readonly signal?: AbortSignal;
    },
  ): Promise<ConversationMatches>;
  /**
   * The right to do `name` with these conversations, which one process at a time has; undefined while another
   * has it. Absent: nobody is kept from doing it at the same time.
   */
  claim?(name: string): Promise<ConversationClaim | undefined>;
}

export interface ConversationClaim {
  /** Aborted when another took over. */
  readonly signal: AbortSignal;
  /** Safe twice. */
  release(): Promise<void>;
}

/** Threads of consolidation itself begin with this: it does not review its own runs. */
export const OWN_THREADS = "deepwright-consolidation-";

export function withoutOwnRuns(source: ConversationSource): ConversationSource {
  const isOwn = ({ threadId }: { readonly threadId: string }): boolean => threadId.startsWith(OWN_THREADS);
  return {
    async list(query) {
      const page = await source.list(query);
      return { ...page, conversations: page.conversations.filter((facts) => !isOwn(facts)) };
    },
    async read(threadId, options) {
      return isOwn({ threadId }) ? undefined : source.read(threadId, options);
    },
    async search(text, options) {
      const found = await source.search(text, options);
      return { ...found, matches: found.matches.filter((match) => !isOwn(match)) };
    },
    ...(source.claim ? { claim: (name) => source.claim?.(name) ?? Promise.resolve(undefined) } : {}),
  };
}
