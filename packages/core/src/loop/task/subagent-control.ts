/** Reaches single subagents of a run from outside: stops one, or tells it something. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";

/** Under this key of `configurable`, for the program that runs the agent; a value that came over a wire is none. */
export const SUBAGENT_CONTROL_CONFIG_KEY = "__deepwright_subagent_control";

/** A message for one subagent. */
export interface SubagentMessage {
  /** Id of the message in the subagent's conversation; a known one is not delivered again. */
  readonly id: string;
  /** Text or content blocks. */
  readonly content: unknown;
}

/** Why a subagent ended that a person stopped. */
export class SubagentStopped extends Error {
  constructor() {
    super("The user stopped it.");
  }
}

/** One subagent while it works. */
export interface WorkingSubagent {
  /** Fires when a person stops this subagent alone. */
  readonly stop: AbortSignal;
  /** Ends the entry. Returns messages that the conversation of the subagent does not hold. */
  leave(state: unknown): readonly SubagentMessage[];
}

interface Entry {
  readonly stopping: AbortController;
  readonly messages: SubagentMessage[];
}

/** The subagents of one run, by namespace: `tools:1`, and `tools:1|tools:2` for one inside. */
export class SubagentControl {
  readonly #working = new Map<string, Entry>();

  /**
   * Stops a subagent. Its call gets a result that says so, and the run continues. False: no such subagent works here
   * now.
   */
  stop(namespace: string): boolean {
    const entry = this.#working.get(namespace);
    entry?.stopping.abort(new SubagentStopped());
    return entry !== undefined;
  }

  /** The message is read before the next model call of the subagent. False: no such subagent works here now. */
  steer(namespace: string, message: SubagentMessage): boolean {
    const entry = this.#working.get(namespace);
    if (entry !== undefined && !entry.messages.some(({ id }) => id === message.id))
      entry.messages.push(message);
    return entry !== undefined;
  }

  enter(namespace: string): WorkingSubagent {
    const entry: Entry = { stopping: new AbortController(), messages: [] };
    this.#working.set(namespace, entry);
    return {
      stop: entry.stopping.signal,
      leave: (state) => {
        if (this.#working.get(namespace) === entry) this.#working.delete(namespace);
        return missingIn(messagesOf(state), entry.messages);
      },
    };
  }

  /** Messages for this subagent that its conversation does not hold yet. */
  unread(namespace: string, conversation: readonly BaseMessage[]): readonly BaseMessage[] {
    const { messages = [] } = this.#working.get(namespace) ?? {};
    if (messages.length === 0) return [];
    return missingIn(conversation, messages).map(
      ({ id, content }) => new HumanMessage({ id, content: content as string }),
    );
  }
}

export function subagentControlOf(
  configurable: Readonly<Record<string, unknown>> | undefined,
): SubagentControl | undefined {
  const control = configurable?.[SUBAGENT_CONTROL_CONFIG_KEY];
  return control instanceof SubagentControl ? control : undefined;
}

function messagesOf(state: unknown): readonly { readonly id?: string | undefined }[] {
  const { messages } = (state ?? {}) as { messages?: unknown };
  return Array.isArray(messages) ? messages : [];
}

function missingIn(
  conversation: readonly { readonly id?: string | undefined }[],
  messages: readonly SubagentMessage[],
): readonly SubagentMessage[] {
  const known = new Set(conversation.map(({ id }) => id));
  return messages.filter(({ id }) => !known.has(id));
}
