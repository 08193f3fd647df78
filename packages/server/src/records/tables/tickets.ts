/** Tickets, as rows of the database. */
import type { ColumnTypes } from "@deepwright/checkpoint/sql";
import type { Ticket, TicketKind } from "../contract/ticket-records.ts";
import type { Database, SqlRow } from "./database.ts";

export function createTicketTable({ integer, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_tickets (kind ${text} NOT NULL, hash ${text} NOT NULL, owner ${text} NOT NULL,
      data ${text} NOT NULL, expires_at ${integer} NOT NULL, PRIMARY KEY (kind, hash))`,
    "CREATE INDEX dw_srv_tickets_age ON dw_srv_tickets (expires_at)",
  ];
}

export function ticketRows({ read, write, clock }: Database) {
  return {
    put: ({ kind, hash, owner, data }: Ticket, ttlMs: number): Promise<void> =>
      write(async (session) => {
        await session.run(
          `INSERT INTO dw_srv_tickets (kind, hash, owner, data, expires_at)
            VALUES ($1, $2, $3, $4, ${clock} + CAST($5 AS BIGINT)) ON CONFLICT DO NOTHING`,
          [kind, hash, owner, data, Math.ceil(ttlMs)],
        );
      }),

    get: (kind: TicketKind, hash: string): Promise<Ticket | undefined> =>
      read(async (session) => {
        const rows = await session.all(
          `SELECT * FROM dw_srv_tickets WHERE kind = $1 AND hash = $2 AND expires_at > ${clock}`,
          [kind, hash],
        );
        return rows.map(ticketOf)[0];
      }),

    take: (kind: TicketKind, hash: string): Promise<Ticket | undefined> =>
      write(async (session) => {
        const rows = await session.all(
          `DELETE FROM dw_srv_tickets WHERE kind = $1 AND hash = $2 AND expires_at > ${clock} RETURNING *`,
          [kind, hash],
        );
        return rows.map(ticketOf)[0];
      }),

    remove: (kind: TicketKind, hash: string): Promise<void> =>
      write(async (session) => {
        await session.run("DELETE FROM dw_srv_tickets WHERE kind = $1 AND hash = $2", [kind, hash]);
      }),

    sweep: (): Promise<void> =>
      write(async (session) => {
        await session.run(`DELETE FROM dw_srv_tickets WHERE expires_at <= ${clock}`);
      }),
  };
}

function ticketOf(row: SqlRow): Ticket {
  return {
    kind: row.kind as TicketKind,
    hash: row.hash as string,
    owner: row.owner as string,
    data: row.data as string,
  };
}
