/**
 * Filters of clients on JSON: a value matches if it contains the filter.
 *
 * The top level of metadata is found by marks, hashes of a key with its value, so neither keys nor values are ever part
 * of a query. Nested values are compared here.
 */
import { createHash } from "node:crypto";
import type { Conditions, Verify } from "./conditions.ts";
import type { Database, SqlSession } from "./database.ts";

type Json = Readonly<Record<string, unknown>>;

/** As `@>` of Postgres: objects by their keys, lists by their elements in any order, all else if it is the same. */
export function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && containsAll(value, wanted);
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(wanted).every(
    ([key, one]) => Object.hasOwn(value, key) && contains((value as Json)[key], one),
  );
}

function containsAll(list: readonly unknown[], wanted: readonly unknown[]): boolean {
  const plain = new Set(list);
  return wanted.every((one) =>
    typeof one === "object" && one !== null ? list.some((other) => contains(other, one)) : plain.has(one),
  );
}

/**
 * Adds the filter by metadata for rows of `kind`; the columns hold their owner and id. One SQL text for any number of
 * keys.
 */
export function addMetadata(
  database: Database,
  conditions: Conditions,
  kind: Kind,
  columns: string,
  owners: readonly string[],
  filter: Json | null | undefined,
): void {
  const marks = marksOf(kind, filter ?? {});
  if (marks.length === 0) return;
  const wanted = conditions.bind(database.list(marks));
  const owned = owners.map((owner) => conditions.bind(owner));
  const group = ` GROUP BY m.owner, m.subject HAVING COUNT(*) = ${marks.length > 1 ? conditions.bind(marks.length) : 1}`;
  conditions.add(
    `(${columns}) IN (SELECT m.owner, m.subject FROM dw_srv_marks m WHERE m.owner IN (${owned.join(", ")})
      AND m.mark ${database.among(wanted)}${marks.length > 1 ? group : ""})`,
  );
}

/** Rows of metadata, which is small, and of values, which may be large, that are looked at together. */
const TOGETHER = { metadata: 5_000, values: 20 };

/** The check of parts that marks do not cover; undefined when they cover all. */
export function verifying(filters: {
  readonly metadata?: Json | null;
  readonly state_values?: Json | null;
}): Verify | undefined {
  const nested = Object.entries(filters.metadata ?? {}).filter(([, value]) => !isMarked(value));
  const metadata = nested.length === 0 ? undefined : Object.fromEntries(nested);
  const values = Object.keys(filters.state_values ?? {}).length === 0 ? undefined : filters.state_values;
  if (metadata === undefined && values === undefined) return undefined;
  return {
    together: values === undefined ? TOGETHER.metadata : TOGETHER.values,
    matches: (row) => textContains(row.metadata, metadata) && textContains(row.state_values, values),
  };
}

function textContains(text: unknown, wanted: unknown): boolean {
  return wanted === undefined || (typeof text === "string" && contains(JSON.parse(text), wanted));
}

export type Kind = "assistant" | "thread";

/** Sets the marks of one row to match its metadata. */
export async function writeMarks(
  database: Database,
  session: SqlSession,
  owner: string,
  kind: Kind,
  id: string,
  metadata: Json,
): Promise<void> {
  await removeMarks(session, owner, kind, id);
  await addMarks(database, session, owner, kind, id, metadata);
}

/** Adds the marks of a row that has none yet. */
export async function addMarks(
  database: Database,
  session: SqlSession,
  owner: string,
  kind: Kind,
  id: string,
  metadata: Json,
): Promise<void> {
  const rows = marksOf(kind, metadata).map((mark) => [owner, mark, id, kind]);
  await database.insertAll(session, "dw_srv_marks", MARK_COLUMNS, rows);
}

export async function removeMarks(session: SqlSession, owner: string, kind: Kind, id: string): Promise<void> {
  await session.run("DELETE FROM dw_srv_marks WHERE owner = $1 AND subject = $2 AND kind = $3", [
    owner,
    id,
    kind,
  ]);
}

const MARK_COLUMNS = { owner: "TEXT", mark: "TEXT", subject: "TEXT", kind: "TEXT" } as const;

function marksOf(kind: Kind, metadata: Json): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => isMarked(value))
    .map((entry) =>
      createHash("sha256")
        .update(JSON.stringify([kind, ...entry]))
        .digest("base64url"),
    );
}

function isMarked(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
