import { describe, expect, it } from "vitest";
import { SqliteSql } from "../sqlite/sqlite-sql.ts";
import { migrate } from "./schema.ts";
import { SqlStorage } from "./sql-storage.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

const first = () => ["CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')"];
const second = () => ["ALTER TABLE notes ADD COLUMN author TEXT"];

async function notes(sql: SqliteSql): Promise<object[]> {
  return sql.read(async (session) => session.all("SELECT * FROM notes"));
}

describe("the schema", () => {
  it("is brought from an older version to the present one, once", async () => {
    const sql = await SqliteSql.open(":memory:");
    await migrate(sql, sqliteDialect, "notes", [first]);
    await migrate(sql, sqliteDialect, "notes", [first, second]);
    await migrate(sql, sqliteDialect, "notes", [first, second]);
    expect(await notes(sql)).toEqual([{ text: "kept", author: null }]);
    await sql.close();
  });

  it("stays as it was when a step fails", async () => {
    const sql = await SqliteSql.open(":memory:");
    await migrate(sql, sqliteDialect, "notes", [first]);
    const broken = () => ["ALTER TABLE notes ADD COLUMN other TEXT", "CREATE nonsense"];
    await expect(migrate(sql, sqliteDialect, "notes", [first, broken])).rejects.toThrow("nonsense");
    await migrate(sql, sqliteDialect, "notes", [first, second]);
    expect(await notes(sql)).toEqual([{ text: "kept", author: null }]);
    await sql.close();
  });

  it("of a later version is refused with a clear message, and nothing is changed", async () => {
    const sql = await SqliteSql.open(":memory:");
    await new SqlStorage(sql).start();
    const stamp = "UPDATE dw_meta SET value = 99 WHERE name = 'version:threads'";
    await sql.write(async (session) => session.run(stamp));
    const error = await new SqlStorage(sql).start().catch((reason) => reason);
    expect(error).toMatchObject({ code: "STORAGE_TOO_NEW", hint: expect.stringContaining("Update") });
    expect(error.message).toContain("version 99");
    const [row] = await sql.read(async (session) =>
      session.all("SELECT value FROM dw_meta WHERE name LIKE 'v%'"),
    );
    expect(row).toEqual({ value: 99 });
    await sql.close();
  });
});
