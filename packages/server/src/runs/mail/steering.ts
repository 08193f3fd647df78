/**
 * Messages that come while a run works.
 *
 * They wait in the mail of the thread. If there is mail before a model call, the graph is halted, the messages are
 * written into its state, and it continues: no call is broken off, and without mail there is no cost. A message has the
 * id of its mail, so a second delivery after a crash adds no second message. Mail stays until the run has ended,
 * because a run that is rolled back has read nothing.
 */
import { mailMessage as taskEndMessage } from "deepwright/internal";
import type { MailRecords, RunRecord, WaitingMail } from "../../records/records.ts";
import { taskEndOf } from "../tasks/task-mail.ts";
import { SUBAGENT_KIND, SubagentOrders } from "./subagent-orders.ts";

/** Kinds of mail that may begin a run. */
export const MAIL_KINDS = ["steer", "follow-up", "completion", "task-end"] as const;

/** The node in which agents call their model, here and in LangChain's `createAgent`. */
export const MODEL_NODE = "model_request";

export interface Steering {
  /** To be given to the engine as `interruptBefore`, which reads it at every step. */
  readonly stops: string[] | "*";
  /** Orders for single subagents. */
  readonly orders: SubagentOrders;
  /** Looks for mail, and has the graph halt if there is some. */
  look(): Promise<void>;
  /** Mail that is to be delivered now: the graph has halted before these nodes, or has not begun. */
  take(next?: readonly string[]): readonly WaitingMail[];
  /** Leaves ends of tasks to the agent, which reads them itself before each model call. */
  leaveTaskEnds(): void;
  /** Marks mail with these message ids as stored in the thread: it is not delivered again in this run. */
  note(stored: ReadonlySet<string>): void;
  /** At the end of the run: forgets mail that is, or was meanwhile, stored in the thread. */
  settle(stored: ReadonlySet<string>): Promise<void>;
}

export function createSteering(
  mail: MailRecords,
  threadId: string,
  clientStops: readonly string[] | "*" | null | undefined,
): Steering {
  const stops = clientStops === "*" ? clientStops : [...(clientStops ?? [])];
  /** A client that wants to see the state before model calls gets this halt itself. */
  const isClients = stops === "*" || stops.includes(MODEL_NODE);
  const orders = new SubagentOrders(mail, threadId);
  const delivered = new Map<string, WaitingMail>();
  const noted = new Set<string>();
  let kinds: readonly string[] = MAIL_KINDS;
  let waiting: readonly WaitingMail[] = [];
  /** Halts while something waits. */
  const halt = () => {
    if (isClients || waiting.length > 0 === stops.includes(MODEL_NODE)) return;
    if (waiting.length > 0) (stops as string[]).push(MODEL_NODE);
    else (stops as string[]).splice(stops.indexOf(MODEL_NODE), 1);
  };
  const deliver = (now: readonly WaitingMail[]) => {
    for (const one of now) delivered.set(one.id, one);
    waiting = waiting.filter(({ id }) => !delivered.has(id));
    halt();
  };
  const note = (stored: ReadonlySet<string>) => {
    deliver(waiting.filter(({ id }) => stored.has(id)));
    for (const id of delivered.keys()) if (stored.has(id)) noted.add(id);
  };

  return {
    stops,
    orders,
    async look() {
      const found = await mail.waiting(threadId, [...kinds, SUBAGENT_KIND]);
      orders.take(found.filter(({ kind }) => kind === SUBAGENT_KIND));
      waiting = found.filter(({ id, kind }) => kind !== SUBAGENT_KIND && !delivered.has(id));
      halt();
    },
    note,
    leaveTaskEnds() {
      kinds = MAIL_KINDS.filter((kind) => kind !== "task-end");
    },
    take(next) {
      if (next !== undefined && (isClients || !next.includes(MODEL_NODE))) return [];
      const now = waiting;
      deliver(now);
      return now;
    },
    async settle(stored) {
      note(stored);
      if (noted.size > 0) await mail.settle(threadId, [...noted]);
      noted.clear();
    },
  };
}

/** The mail as a message of the user, unless it names another role. */
export function mailMessage({ id, kind, message }: WaitingMail): Record<string, unknown> {
  if (kind === "task-end") {
    const { content, additional_kwargs } = taskEndMessage(taskEndOf({ id, message }));
    return { type: "human", id, content, additional_kwargs };
  }
  const given: Record<string, unknown> =
    typeof message === "object" && message !== null && !Array.isArray(message)
      ? { ...message }
      : { content: message };
  if (given.role === undefined && given.type === undefined) given.role = "user";
  return { ...given, id };
}

/** As events show it. */
export function wireMessage({ role, ...message }: Record<string, unknown>): Record<string, unknown> {
  return { ...message, type: message.type ?? (role === "user" ? "human" : role) };
}

/** The input of a run with mail, in order of arrival: mail from before the run, its own input, mail since then. */
export function withMail(input: unknown, mail: readonly WaitingMail[], { sequence }: RunRecord): unknown {
  if (mail.length === 0) return input;
  const given = (input ?? {}) as { messages?: unknown };
  const own = given.messages === undefined ? [] : [given.messages].flat();
  const before = mail.filter(({ afterRun }) => afterRun < sequence);
  const since = mail.filter(({ afterRun }) => afterRun >= sequence);
  return { ...given, messages: [...before.map(mailMessage), ...own, ...since.map(mailMessage)] };
}

/** Marks a run that was begun to read mail; without mail it does nothing. */
export const MAIL_RUN = { origin: "mail" } as const;

export function isMailRun({ request }: RunRecord): boolean {
  return request.metadata?.origin === MAIL_RUN.origin && (request.input ?? null) === null && !request.command;
}
