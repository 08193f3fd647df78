/**
 * Messages that come while a run goes on.
 *
 * They wait in the mail of the thread. When there are some, the graph is halted before its next model call, they
 * are written into its state, and it goes on: no call is broken off, and nothing is done when there is no mail. A
 * message has the id of its mail, so that one that is delivered again after a crash is still one message.
 */
import type { MailRecords, RunRecord } from "../records/records.ts";

export const MAIL_KINDS = ["steer", "follow-up", "completion"] as const;

/** The node in which agents call their model, here and in LangChain's `createAgent`. */
export const MODEL_NODE = "model_request";

export interface Mail {
  readonly id: string;
  readonly kind: string;
  readonly message: unknown;
}

export interface Steering {
  /** To be given to the engine as `interruptBefore`, which reads it at every step. */
  readonly stops: string[] | "*";
  /** Looks for mail, and has the graph halt if there is some. */
  look(): Promise<void>;
  /** Mail that is to be delivered now: the graph has halted before these nodes, or has not begun. */
  take(next?: readonly string[]): readonly Mail[];
  /** Forgets mail that is certainly stored in the thread: its messages have these ids. */
  settle(stored: ReadonlySet<string>): Promise<void>;
}

export function createSteering(
  mail: MailRecords,
  threadId: string,
  clientStops: readonly string[] | "*" | null | undefined,
): Steering {
  const stops = clientStops === "*" ? clientStops : [...(clientStops ?? [])];
  /** A client that wants to see the state before model calls gets the halt for itself. */
  const isClients = stops === "*" || stops.includes(MODEL_NODE);
  const delivered = new Map<string, Mail>();
  let waiting: readonly Mail[] = [];

  return {
    stops,
    async look() {
      const found = await mail.waiting(threadId, MAIL_KINDS);
      waiting = found.filter(({ id }) => !delivered.has(id));
      if (waiting.length > 0 && !isClients && !stops.includes(MODEL_NODE))
        (stops as string[]).push(MODEL_NODE);
    },
    take(next) {
      if (next !== undefined && (isClients || !next.includes(MODEL_NODE))) return [];
      const now = waiting;
      waiting = [];
      for (const one of now) delivered.set(one.id, one);
      if (!isClients && stops.includes(MODEL_NODE)) (stops as string[]).splice(stops.indexOf(MODEL_NODE), 1);
      return now;
    },
    async settle(stored) {
      const ids = [...delivered.keys()].filter((id) => stored.has(id));
      if (ids.length === 0) return;
      await mail.settle(threadId, ids);
      for (const id of ids) delivered.delete(id);
    },
  };
}

/** As a message of the user, unless it says whose it is. */
export function mailMessage({ id, message }: Mail): Record<string, unknown> {
  const given: Record<string, unknown> =
    typeof message === "object" && message !== null && !Array.isArray(message)
      ? { ...message }
      : { content: message };
  if (given.role === undefined && given.type === undefined) given.role = "user";
  return { ...given, id };
}

/** The input of a run with the mail that waited before its own messages. */
export function withMail(input: unknown, mail: readonly Mail[]): unknown {
  if (mail.length === 0) return input;
  const given = (input ?? {}) as { messages?: unknown };
  const own = given.messages === undefined ? [] : [given.messages].flat();
  return { ...given, messages: [...mail.map(mailMessage), ...own] };
}

/** What marks a run that was begun to read mail; without any it does nothing. */
export const MAIL_RUN = { origin: "mail" } as const;

export function isMailRun({ request }: RunRecord): boolean {
  return request.metadata?.origin === MAIL_RUN.origin && (request.input ?? null) === null && !request.command;
}
