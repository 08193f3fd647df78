/** Files as rows of a table: `DATABASE_URL=postgresql://… node examples/postgres-backend.ts`. */
import { fileURLToPath } from "node:url";
import { type BackendProtocol, backendFromPrimitives, createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import pg from "pg";

/** With the collation "C" the index of the key also serves `LIKE 'prefix%'`. */
export const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS files (
  path text COLLATE "C" PRIMARY KEY, content text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), modified_at timestamptz NOT NULL DEFAULT now())`;

/** Keys of an index have a limit in Postgres; bytes. */
const MAX_PATH = 2000;

export function postgresBackend(pool: pg.Pool): BackendProtocol {
  return backendFromPrimitives({
    async list(prefix) {
      const { rows } = await pool.query(
        `SELECT path, octet_length(content) AS size, modified_at FROM files WHERE path LIKE $1 ESCAPE '\\'`,
        [`${likeLiteral(prefix)}%`],
      );
      return rows.map(({ path, size, modified_at }) => ({
        path,
        size,
        modified_at: modified_at.toISOString(),
      }));
    },
    async get(path) {
      const { rows } = await pool.query("SELECT * FROM files WHERE path = $1", [path]);
      if (rows.length === 0) return undefined;
      const [{ content, created_at, modified_at }] = rows;
      return {
        bytes: new TextEncoder().encode(content),
        version: content,
        created_at: created_at.toISOString(),
        modified_at: modified_at.toISOString(),
      };
    },
    async put(path, bytes, { ifAbsent, ifVersion }) {
      const content = textOf(bytes);
      if (content === undefined)
        return { error: `'${path}' is not text: this table keeps text`, code: "NOT_TEXT" };
      const isTooLong = Buffer.byteLength(path) > MAX_PATH;
      if (isTooLong) return { error: "Path is too long", code: "INVALID_PATH" };
      const insert = "INSERT INTO files (path, content) VALUES ($1, $2) ON CONFLICT DO NOTHING";
      const { rowCount } = ifAbsent
        ? await pool.query(insert, [path, content])
        : await pool.query(
            "UPDATE files SET content = $2, modified_at = now() WHERE path = $1 AND content = $3",
            [path, content, ifVersion],
          );
      return rowCount === 1;
    },
    remove: (path) => pool.query("DELETE FROM files WHERE path = $1", [path]),
  });
}

/** `%` and `_` stand for other characters in LIKE, and the backslash makes them plain. */
function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** A column of text takes UTF-8 without zeros. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
  // A server that restarts cuts idle connections, which the pool replaces; unheard, that would end the process.
  pool.on("error", (error) => console.error(error.message));
  await pool.query(CREATE_TABLE);
  const model = scriptedModel([
    callTool("write_file", { file_path: "/100%/plan.md", content: "Begin on Monday.\n" }),
    callTool("edit_file", { file_path: "/100%/plan.md", old_string: "Monday", new_string: "Friday" }),
    callTool("ls", { path: "/100%" }),
    "Done.",
  ]);
  const agent = createDeepAgent({ model, backend: postgresBackend(pool) });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Plan it." }] });
  console.log(messages.at(-2)?.text);
  const { rows } = await pool.query("SELECT path, content FROM files");
  console.log(rows);
  await pool.end();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
