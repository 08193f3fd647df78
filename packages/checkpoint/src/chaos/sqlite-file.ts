/** An SQLite file looked at by somebody else than our saver. */
import { openDatabase } from "../sqlite/driver.ts";

/** `ok`, or what is wrong. */
export function integrityOf(path: string): string {
  const database = openDatabase(path, { timeout: 60_000, enableForeignKeyConstraints: false });
  try {
    const rows = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).join(", ");
  } finally {
    database.close();
  }
}
