import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { openDatabase } from "../sqlite/driver.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { scratchDirectory } from "../sqlite/scratch-for-tests.ts";
import { damageSuite } from "./damage-suite-for-tests.ts";
import { WRONG_TYPES, WRONG_VALUES, withBytes } from "./edits-for-tests.ts";
import { CHANGES, outcome } from "./threads-for-tests.ts";

const directory = scratchDirectory();
const template = join(directory, "template.db");
let copies = 0;

async function edited(
  statements: (query: Query) => Promise<readonly string[]> | readonly string[],
): Promise<string> {
  copies += 1;
  const path = join(directory, `${copies}.db`);
  copyFileSync(template, path);
  const database = openDatabase(path, { timeout: 0, enableForeignKeyConstraints: false });
  const query: Query = async (sql) => database.prepare(sql).all() as Record<string, unknown>[];
  for (const sql of await statements(query)) database.exec(withBytes(sql, (hex) => `x'${hex}'`));
  database.close();
  return path;
}

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

const EDITS = [...WRONG_TYPES, ...WRONG_VALUES].filter((_, place) => place % sized(4, 1) === 0);

damageSuite(EDITS, {
  prepare: async (fill) => {
    await using saver = await SqliteSaver.open(template);
    await fill(saver);
  },
  open: async (edit) => SqliteSaver.open(edit ? await edited(edit.statements) : template),
});

test.each([
  "UPDATE dw_meta SET value = 'x' WHERE name = 'version:threads'",
  "UPDATE dw_meta SET value = -1 WHERE name = 'version:threads'",
])("a database whose version is damaged is not opened: %s", async (sql) => {
  const path = await edited(() => [sql]);
  await expect(SqliteSaver.open(path)).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
});

test("without its seed a database keeps its threads and takes no new ones", async () => {
  await using saver = await SqliteSaver.open(await edited(() => ["DELETE FROM dw_meta WHERE name = 'seed'"]));
  expect(await outcome(() => CHANGES.put?.(saver, "new") as Promise<unknown>)).toBe("STORAGE_CORRUPT");
  expect(await outcome(() => CHANGES.put?.(saver, "hit") as Promise<unknown>)).toBe("ok");
});
