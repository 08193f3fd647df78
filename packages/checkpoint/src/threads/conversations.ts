/** Threads of a saver as conversations: what a reviewer of them may read. */

import { createHash } from "node:crypto";
import { checkNames } from "deepwright/check-options";
import type { ConversationClaim, ConversationFacts, ConversationSource } from "deepwright/consolidation";
import { DeepwrightError } from "deepwright/errors";
import { checkedId } from "../saver/ids.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import type { ThreadFacts } from "../storage/storage.ts";
import { type ConversationText, excerptOf, messageTexts } from "./conversation-text.ts";
import { cursorOf, placeAfter } from "./cursor.ts";
import { listElement, listLength } from "./stored-list.ts";
import { StateReader, type StoredState } from "./stored-state.ts";

/** Filter of threads; an absent field matches all. */
export interface ConversationScope {
  /** The directory the thread worked in. */
  readonly cwd?: string;
  /** A further condition, e.g. how its id begins. */
  readonly where?: (facts: ThreadFacts) => boolean | Promise<boolean>;
  /** Sources that share it share their claims. Default: the directory. */
  readonly claimScope?: string;
}

const PAGE = 200;
/** Threads one search looks through. */
const MOST_SEARCHED = 200;
/** Seconds after which the claim of a dead process is void. */
const CLAIM_SECONDS = 10;

/**
 * The saver stays the caller's. Lists come from the table of threads alone; of a thread that is read, the messages
 * of its newest state are loaded and nothing else of it.
 */
export function conversationsOf(saver: SharedSaver, scope: ConversationScope = {}): ConversationSource {
  if (typeof saver?.storage?.listThreads !== "function")
    throw new DeepwrightError("INVALID_OPTION", "conversationsOf needs a saver of @deepwright/checkpoint.");
  checkNames("conversationsOf", scope, ["cwd", "where", "claimScope"]);
  return new SaverConversations(saver, scope);
}

interface Said {
  /** Messages with words in them. */
  readonly messages: readonly ConversationText[];
  readonly total: number;
}

class SaverConversations implements ConversationSource {
  /** State of the thread that was read last: it is read page by page. */
  private last: (Said & { readonly checkpointId: string }) | undefined;

  constructor(
    private readonly saver: SharedSaver,
    private readonly scope: ConversationScope,
  ) {}

  async list(query: Parameters<ConversationSource["list"]>[0]): ReturnType<ConversationSource["list"]> {
    const found: ThreadFacts[] = [];
    for await (const facts of this.threads(query)) {
      if (found.length === query.limit) {
        const end = found.at(-1) as ThreadFacts;
        return { conversations: found.map(factsOf), next: cursorOf(end) };
      }
      found.push(facts);
    }
    return { conversations: found.map(factsOf) };
  }

  async read(
    threadId: string,
    options: Parameters<ConversationSource["read"]>[1] = {},
  ): ReturnType<ConversationSource["read"]> {
    options.signal?.throwIfAborted();
    if (!(await this.inScope(threadId))) return undefined;
    const { from = 0, limit = PAGE } = options;
    const { messages, total } = await this.said(threadId);
    const rest = messages.filter(({ index }) => index >= from);
    const next = rest[limit] ? { next: rest[limit].index } : {};
    return { messages: rest.slice(0, limit), total, ...next };
  }

  async search(
    text: string,
    options: Parameters<ConversationSource["search"]>[1],
  ): ReturnType<ConversationSource["search"]> {
    const { limit, signal, threadId } = options;
    const only = threadId === undefined ? undefined : await this.inScope(threadId);
    const threads = threadId === undefined ? this.threads(options) : only ? [only] : [];
    const matches: Awaited<ReturnType<ConversationSource["search"]>>["matches"][number][] = [];
    let searched = 0;
    for await (const facts of threads) {
      signal?.throwIfAborted();
      if (searched === MOST_SEARCHED) return { matches, searched, more: true };
      searched += 1;
      for (const message of (await this.said(facts.threadId)).messages) {
        const excerpt = excerptOf(message.text, text);
        if (excerpt === undefined) continue;
        if (matches.length === limit) return { matches, searched, more: true };
        const { title, updatedAt } = factsOf(facts);
        matches.push({ threadId: facts.threadId, title, updatedAt, message: { ...message, text: excerpt } });
      }
    }
    return { matches, searched, more: false };
  }

  /** By a claim on a thread that has no checkpoints and is therefore not listed. */
  async claim(name: string): Promise<ConversationClaim | undefined> {
    const { cwd = "", claimScope = cwd } = this.scope;
    const hash = createHash("sha256")
      .update(JSON.stringify([name, claimScope]))
      .digest("hex")
      .slice(0, 32);
    try {
      return await this.saver.claimThread(`deepwright-claim-${hash}`, { mode: "refuse", ttl: CLAIM_SECONDS });
    } catch (error) {
      if ((error as { code?: unknown }).code === "THREAD_BUSY") return undefined;
      throw error;
    }
  }

  /** Newest first. */
  private async *threads(query: {
    readonly since?: string;
    readonly after?: string;
    readonly signal?: AbortSignal;
  }): AsyncGenerator<ThreadFacts> {
    const { cwd } = this.scope;
    const since = query.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.since);
    let after = query.after === undefined ? undefined : placeAfter(query.after);
    for (;;) {
      query.signal?.throwIfAborted();
      const page = await this.saver.storage.listThreads({
        limit: PAGE,
        ...(after ? { after } : {}),
        ...(cwd === undefined ? {} : { cwd }),
      });
      for (const facts of page) {
        if (facts.updatedAt <= since) return;
        if (await this.matches(facts)) yield facts;
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = { updatedAt: last.updatedAt, threadId: last.threadId };
    }
  }

  private async inScope(threadId: string): Promise<ThreadFacts | undefined> {
    const facts = isId(threadId) ? await this.saver.storage.thread(threadId) : undefined;
    return facts && (await this.matches(facts)) ? facts : undefined;
  }

  private async matches(facts: ThreadFacts): Promise<boolean> {
    const { cwd, where } = this.scope;
    return (cwd === undefined || facts.cwd === cwd) && ((await where?.(facts)) ?? true);
  }

  private async head(reader: StateReader, threadId: string): Promise<StoredState | undefined> {
    const rows = await this.saver.storage.readTuple(threadId, "", undefined);
    return rows && (await reader.states([rows.checkpoint]))[0];
  }

  private async said(threadId: string): Promise<Said> {
    const reader = new StateReader(this.saver.storage);
    const head = await this.head(reader, threadId);
    if (!head) return { messages: [], total: 0 };
    if (this.last?.checkpointId === head.row.id) return this.last;
    await reader.loadChannels([head], [MESSAGES]);
    const value = head.channels.get(MESSAGES);
    const stored = Array.from({ length: listLength(reader, value) }, (_, index) =>
      value ? listElement(reader, value, index) : undefined,
    );
    this.last = { checkpointId: head.row.id, messages: messageTexts(stored), total: stored.length };
    return this.last;
  }
}

const MESSAGES = "messages";

/** A model may ask for anything. */
function isId(threadId: string): boolean {
  try {
    return checkedId("thread_id", threadId) === threadId;
  } catch (error) {
    if ((error as { code?: unknown }).code === "INVALID_ID") return false;
    throw error;
  }
}

function factsOf({
  threadId,
  title,
  firstPrompt,
  createdAt,
  updatedAt,
  messageCount,
}: ThreadFacts): ConversationFacts {
  return {
    threadId,
    title: title ?? firstPrompt,
    startedAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    messageCount,
  };
}
