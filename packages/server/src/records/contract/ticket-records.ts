/** Secrets that grant access to their holder: one-time codes, sessions of browsers, links to one decision. */
import type { Owner } from "./owner.ts";

export type TicketKind = "code" | "session" | "approval";

export interface Ticket {
  readonly kind: TicketKind;
  /** Identifies the ticket. Of the secret itself nothing is stored. */
  readonly hash: string;
  readonly owner: Owner;
  /** JSON. */
  readonly data: string;
}

/** An expired ticket is a ticket that is not there. */
export interface TicketRecords {
  put(ticket: Ticket, ttlMs: number): Promise<void>;
  get(kind: TicketKind, hash: string): Promise<Ticket | undefined>;
  /** Takes a ticket out; only one of several callers gets it. It is gone also when the answer of the database got lost. */
  take(kind: TicketKind, hash: string): Promise<Ticket | undefined>;
  remove(kind: TicketKind, hash: string): Promise<void>;
  /** Deletes expired tickets. */
  sweep(): Promise<void>;
}
