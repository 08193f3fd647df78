/** Edits that somebody may make to the rows of one thread. `B[0aff]` in a statement stands for these bytes. */
import { KIND } from "../content/handle.ts";
import { encodeHead, encodeRefs } from "../storage/refs.ts";

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

export interface Edit {
  readonly name: string;
  readonly statements: (query: Query) => Promise<readonly string[]> | readonly string[];
  /** Acts that must tell of the damage; others may succeed. */
  readonly tells: readonly string[];
}

const HIT = "(SELECT id FROM dw_threads WHERE thread_id = 'hit')";
const SPACE = `(SELECT id FROM dw_spaces WHERE thread = ${HIT} AND namespace = '')`;
const NEWEST = `(SELECT id FROM dw_checkpoints WHERE space = ${SPACE} ORDER BY id DESC LIMIT 1)`;
const HUGE = "4611686018427387904";
const READS = ["get", "history", "show", "export"];
const FACTS = ["show", "export"];
/** An export does not look into values. */
const VALUES = ["get", "history", "show"];

function edit(sql: string, tells: readonly string[], name = sql): Edit {
  return { name: shortName(name), statements: () => [sql], tells };
}

function shortName(name: string): string {
  return name.replaceAll(/ WHERE .*/gs, "").slice(0, 100);
}

const ofThread = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_threads SET ${change} WHERE thread_id = 'hit'`, tells);
const ofSpace = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_spaces SET ${change} WHERE id = ${SPACE}`, tells);
const ofCheckpoint = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_checkpoints SET ${change} WHERE space = ${SPACE} AND id = ${NEWEST}`, tells);
const ofWrites = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_writes SET ${change} WHERE space = ${SPACE} AND checkpoint = ${NEWEST}`, tells);
/** All that no other thread has. */
const ofObjects = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_objects SET ${change} WHERE owner = ${HIT}`, tells);
const ofImages = (change: string, tells: readonly string[]) =>
  edit(`UPDATE dw_images SET ${change} WHERE thread = ${HIT}`, tells);

/** A column of Postgres takes only its own type: these are for SQLite. */
export const WRONG_TYPES: readonly Edit[] = [
  ofThread("thread_id = B[686974]", []),
  ofThread("epoch = 'x'", ["export", "put", "claim", "prune"]),
  ofThread("created_at = 'x'", FACTS),
  ofThread("updated_at = 'soon'", FACTS),
  ofThread("title = B[00ff]", FACTS),
  ofThread("first_prompt = B[00]", FACTS),
  ofThread("message_count = 'many'", FACTS),
  ofThread("checkpoint_count = 'many'", FACTS),
  ofThread("model = B[01]", FACTS),
  ofThread("cwd = B[01]", FACTS),
  ofThread("claim_holder = B[01]", []),
  ofThread("claim_fence = 'x'", ["put", "claim"]),
  ofThread("claim_expires = 'x'", []),
  ofSpace("thread = 'x'", ["get", "show", "export"]),
  ofSpace("namespace = B[00]", READS),
  ofSpace("namespace = CAST(B[ff] AS TEXT)", ["export"]),
  ofCheckpoint("id = 'text'", ["history", "export"]),
  ofCheckpoint("parent = 'text'", READS),
  ofCheckpoint("root = 7", READS),
  ofCheckpoint("stored_at = 'x'", ["prune"]),
  ofCheckpoint("refs = 'text'", READS),
  ofCheckpoint("body = B[00]", READS),
  ofWrites("checkpoint = 'x'", []),
  ofWrites("task = 'x'", READS),
  ofWrites("refs = 'x'", READS),
  ofWrites("body = B[00]", READS),
  ofObjects("hash = CAST(id AS TEXT)", READS),
  ofObjects("head = 'x'", READS),
  ofObjects("body = 5", READS),
  ofObjects("owner = 'x'", []),
  edit(`UPDATE dw_shares SET thread = 'x' WHERE thread = ${HIT}`, []),
  ofImages("checkpoint = 'x'", FACTS),
  ofImages("place = B[00]", FACTS),
  ofImages("path = B[00]", FACTS),
  ofImages("before_ref = 'x'", FACTS),
  ofImages("after_ref = B[00]", FACTS),
  ofImages("stored_at = 'x'", [...FACTS, "prune"]),
];

const many = Uint8Array.from({ length: 40 }, () => 255);
const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** Values of the right type that were not written. */
export const WRONG_VALUES: readonly Edit[] = [
  ofThread(`epoch = ${HUGE}`, ["put", "claim"]),
  ofThread(`created_at = ${HUGE}`, FACTS),
  ofThread("updated_at = -1", FACTS),
  ofThread("checkpoint_count = -5", FACTS),
  ofThread("checkpoint_count = 1000000", ["export"]),
  ofSpace("thread = 999999", ["get", "show", "export"]),
  edit(`DELETE FROM dw_spaces WHERE id = ${SPACE}`, ["get", "show", "export"]),
  edit(`DELETE FROM dw_checkpoints WHERE space = ${SPACE}`, ["get", "show", "export"]),
  ofCheckpoint("id = B[0102]", ["history", "export"]),
  ofCheckpoint("id = B[ffff]", READS),
  edit(`UPDATE dw_checkpoints SET id = substr(id, 1, 13) || substr(id, 16) WHERE space = ${SPACE}`, READS),
  ofCheckpoint("parent = B[]", READS),
  ofCheckpoint("parent = id", ["delta"]),
  ofCheckpoint("root = B[01]", READS),
  ofCheckpoint("refs = NULL", READS),
  ofCheckpoint("refs = B[80]", READS),
  ofCheckpoint("refs = substr(refs, 1, octet_length(refs) - 1)", ["get", "history", "export"]),
  ofCheckpoint(`refs = ${bytes(many)}`, READS),
  ofCheckpoint(`refs = ${bytes(encodeRefs([2 ** 40, 2 ** 40 + 1]))}`, READS),
  ofCheckpoint("body = ''", READS),
  ofCheckpoint("body = 'null'", READS),
  ofCheckpoint("body = '{}'", READS),
  ofCheckpoint("body = '[1e999,0,1,[],[]]'", READS),
  ofCheckpoint("body = '[0,0,0,[],[]]'", VALUES),
  ofCheckpoint("body = substr(body, 1, length(body) / 2)", READS),
  ofCheckpoint("body = replace(body, '\"$\":', '\"$\":99')", READS),
  edit(`UPDATE dw_checkpoints SET body = '[0,0,0,[],[${deep(100_000)}]]' WHERE space = ${SPACE}`, VALUES),
  ofWrites("task = B[]", READS),
  ofWrites("refs = NULL", READS),
  ofWrites("refs = B[ffffffffffffffffffffff]", READS),
  ofWrites("body = 'x'", READS),
  ofWrites("body = '{}'", READS),
  ofWrites(`body = '[[0,"a",1e308,0]]'`, READS),
  ofWrites(`body = '[[0,"a",-5,-5]]'`, READS),
  ofWrites("body = substr(body, 1, length(body) - 5)", READS),
  ofWrites("body = replace(body, '\"$\"', '\"?\"')", []),
  ofObjects("hash = substr(hash, 2)", READS),
  ofObjects("head = B[]", READS),
  ofObjects("head = B[ff]", READS),
  ofObjects("head = B[02]", READS),
  ofObjects("body = NULL", READS),
  ofObjects("body = substr(body, 2)", READS),
  ofObjects("owner = 999999", []),
  edit(`DELETE FROM dw_objects WHERE owner = ${HIT}`, READS),
  { name: "objects that lead to themselves", statements: (query) => cycles(query, 0), tells: READS },
  { name: "objects that lead to each other", statements: (query) => cycles(query, 1), tells: READS },
  edit(`DELETE FROM dw_shares WHERE thread = ${HIT}`, []),
  ofImages("checkpoint = B[01]", FACTS),
  ofImages(`before_ref = ${HUGE}`, FACTS),
  ofImages("before_ref = 999999", ["export"]),
  ofImages("before_ref = -1", ["export"]),
  ofImages(`stored_at = ${HUGE}`, [...FACTS, "prune"]),
];

async function cycles(query: Query, distance: number): Promise<string[]> {
  const rows = await query(`SELECT id FROM dw_objects WHERE owner = ${HIT} ORDER BY id`);
  const ids = rows.map(({ id }) => Number(id));
  return ids.map((id, place) => {
    const ref = ids[(place + distance) % ids.length] as number;
    const head = encodeHead({ kind: KIND.lists, text: true, refs: [ref] });
    return `UPDATE dw_objects SET head = ${bytes(head)} WHERE id = ${id}`;
  });
}

function bytes(content: Uint8Array): string {
  return `B[${Buffer.from(content).toString("hex")}]`;
}

/** `literal` makes SQL of hexadecimal digits. */
export function withBytes(sql: string, literal: (hex: string) => string): string {
  return sql.replaceAll(/B\[([0-9a-f]*)\]/g, (_, hex: string) => literal(hex));
}
