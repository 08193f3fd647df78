/** Assistants and their earlier versions, as rows where the database lives. */

import type { ByteLimit } from "@deepwright/checkpoint/sql";
import type { Assistant, SearchAssistants } from "@deepwright/protocol";
import type { AssistantFilters } from "../contract/assistant-records.ts";
import { EVERYONE, type Owner } from "../records.ts";
import { Conditions, countOf, type Listing, orderOf, type Page, pageOf, type Verify } from "./conditions.ts";
import type { Database, SqlRow, SqlSession } from "./database.ts";
import { addMetadata, removeMarks, verifying, writeMarks } from "./json-filter.ts";

type IfExists = "raise" | "do_nothing" | "replace";

export function assistantRows(database: Database) {
  const { read, write } = database;
  return {
    put: (owner: Owner, assistant: Assistant, ifExists: IfExists): Promise<Assistant | "exists"> =>
      write((session) => putAssistant(database, session, owner, assistant, ifExists)),

    setLatest: (owner: Owner, assistantId: string, version: number): Promise<Assistant | undefined> =>
      write(async (session) => {
        const [kept] = await session.all(
          "SELECT body FROM dw_srv_assistant_versions WHERE owner = $1 AND assistant_id = $2 AND version = $3",
          [owner, assistantId, version],
        );
        if (kept === undefined) return undefined;
        const assistant = JSON.parse(kept.body as string) as Assistant;
        await makeCurrent(database, session, owner, assistant);
        return assistant;
      }),

    get: (owner: Owner, assistantId: string): Promise<Assistant | undefined> =>
      read(async (session) => {
        const own = await findAssistant(session, owner, assistantId);
        return own ?? findAssistant(session, EVERYONE, assistantId);
      }),

    search: (
      owner: Owner,
      query: SearchAssistants & AssistantFilters,
      bytes?: ByteLimit,
    ): Promise<Assistant[]> =>
      read(async (session) => {
        const order = orderOf(SORTS, query.sort_by, query.sort_order, "position");
        const conditions = matching(database, owner, query);
        const page = { ...query, bytes };
        const rows = await pageOf(session, { ...LISTING, order }, conditions, page, verifyingOf(query));
        return rows.map((row) => JSON.parse(row.body as string));
      }),

    count: (owner: Owner, query: AssistantFilters): Promise<number> =>
      read((session) => countOf(session, LISTING, matching(database, owner, query), verifyingOf(query))),

    versions: (owner: Owner, assistantId: string, page: Page): Promise<Assistant[]> =>
      read(async (session) => {
        const conditions = await versionsOf(session, owner, assistantId);
        const rows = await pageOf(session, VERSIONS, conditions, page, undefined);
        return rows.map((row) => JSON.parse(row.body as string));
      }),

    countVersions: (owner: Owner, assistantId: string): Promise<number> =>
      read(async (session) =>
        countOf(session, VERSIONS, await versionsOf(session, owner, assistantId), undefined),
      ),

    delete: (owner: Owner, assistantId: string): Promise<boolean> =>
      write(async (session) => {
        const key = [owner, assistantId];
        await session.run(
          "DELETE FROM dw_srv_assistant_versions WHERE owner = $1 AND assistant_id = $2",
          key,
        );
        await removeMarks(session, owner, "assistant", assistantId);
        const gone = await session.run(
          "DELETE FROM dw_srv_assistants WHERE owner = $1 AND assistant_id = $2",
          key,
        );
        return gone > 0;
      }),
  };
}

const SORTS = {
  assistant_id: "assistant_id",
  graph_id: "graph_id",
  name: "name",
  created_at: "created_at",
  updated_at: "updated_at",
};

/** Metadata is inside the body, and not read unless nested parts of it are asked for. */
const LISTING: Listing = {
  columns: "body",
  from: "dw_srv_assistants a",
  bytes: "OCTET_LENGTH(body)",
  order: "position",
};

const VERSIONS: Listing = { ...LISTING, from: "dw_srv_assistant_versions", order: "version DESC" };

async function versionsOf(session: SqlSession, owner: Owner, assistantId: string): Promise<Conditions> {
  const own = await findAssistant(session, owner, assistantId);
  const conditions = new Conditions();
  conditions.add(`owner = ${conditions.bind(own === undefined ? EVERYONE : owner)}`);
  conditions.add(`assistant_id = ${conditions.bind(assistantId)}`);
  return conditions;
}

function matching(database: Database, owner: Owner, query: AssistantFilters): Conditions {
  const conditions = new Conditions();
  conditions.add(`a.owner IN (${conditions.bind(owner)}, ${conditions.bind(EVERYONE)})`);
  if (query.graph_id) conditions.add(`a.graph_id = ${conditions.bind(query.graph_id)}`);
  if (query.served) {
    const names = query.served.map((name) => conditions.bind(name));
    const isServed = names.length === 0 ? "FALSE" : `a.graph_id IN (${names.join(", ")})`;
    conditions.add(`(a.owner <> ${conditions.bind(EVERYONE)} OR ${isServed})`);
  }
  if (query.name) {
    const part = query.name.replace(/[\\%_]/g, (sign) => `\\${sign}`);
    conditions.add(`LOWER(a.name) LIKE LOWER(${conditions.bind(`%${part}%`)}) ESCAPE '\\'`);
  }
  addMetadata(
    database,
    conditions,
    "assistant",
    "a.owner, a.assistant_id",
    [owner, EVERYONE],
    query.metadata,
  );
  return conditions;
}

function verifyingOf({ metadata }: AssistantFilters): Verify | undefined {
  const nested = verifying({ metadata });
  return nested && { ...nested, matches: (row) => nested.matches({ metadata: metadataOf(row) }) };
}

function metadataOf(row: SqlRow): string {
  return JSON.stringify((JSON.parse(row.body as string) as Assistant).metadata);
}

async function findAssistant(
  session: SqlSession,
  owner: Owner,
  assistantId: string,
): Promise<Assistant | undefined> {
  const [row] = await session.all(
    "SELECT body FROM dw_srv_assistants WHERE owner = $1 AND assistant_id = $2",
    [owner, assistantId],
  );
  return row && JSON.parse(row.body as string);
}

async function putAssistant(
  database: Database,
  session: SqlSession,
  owner: Owner,
  assistant: Assistant,
  ifExists: IfExists,
): Promise<Assistant | "exists"> {
  const id = assistant.assistant_id;
  if (owner !== EVERYONE && (await findAssistant(session, EVERYONE, id)) !== undefined) return "exists";
  const [row] = await session.all(
    `SELECT body FROM dw_srv_assistants WHERE owner = $1 AND assistant_id = $2${database.lock}`,
    [owner, id],
  );
  const found = row && (JSON.parse(row.body as string) as Assistant);
  if (found !== undefined && ifExists === "do_nothing") return found;
  if (found !== undefined && isSame(found, assistant, ifExists)) return found;
  if (found !== undefined && ifExists === "raise") return "exists";
  const [last] = await session.all(
    "SELECT MAX(version) AS version FROM dw_srv_assistant_versions WHERE owner = $1 AND assistant_id = $2",
    [owner, id],
  );
  const version = ((last?.version as number | null) ?? 0) + 1;
  const stored: Assistant = { ...assistant, version, created_at: found?.created_at ?? assistant.created_at };
  await session.run(
    `INSERT INTO dw_srv_assistant_versions (owner, assistant_id, version, updated_at, body)
      VALUES ($1, $2, $3, $4, $5)`,
    [owner, id, version, Date.parse(stored.updated_at), JSON.stringify(stored)],
  );
  await makeCurrent(database, session, owner, stored);
  return stored;
}

/**
 * Whether the request repeats an earlier one whose answer was lost, or brings nothing new. `raise` is about two
 * assistants with one id.
 */
function isSame(found: Assistant, assistant: Assistant, ifExists: IfExists): boolean {
  const words = (one: Assistant) => {
    const { version: _version, created_at: created, updated_at: _updated, ...said } = one;
    return JSON.stringify(Object.entries({ ...said, created: ifExists === "raise" ? created : "" }).sort());
  };
  return words(found) === words(assistant);
}

async function makeCurrent(
  database: Database,
  session: SqlSession,
  owner: Owner,
  assistant: Assistant,
): Promise<void> {
  const { assistant_id: id, graph_id: graph, version } = assistant;
  const name = assistant.name.replaceAll("\0", "");
  const [created, updated] = [Date.parse(assistant.created_at), Date.parse(assistant.updated_at)];
  await session.run(
    `INSERT INTO dw_srv_assistants (owner, assistant_id, graph_id, name, version, created_at, updated_at, body)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (owner, assistant_id) DO UPDATE SET graph_id = excluded.graph_id, name = excluded.name,
        version = excluded.version, updated_at = excluded.updated_at, body = excluded.body`,
    [owner, id, graph, name, version, created, updated, JSON.stringify(assistant)],
  );
  await writeMarks(database, session, owner, "assistant", id, assistant.metadata);
}
