import { storageSuite } from "../storage/storage-suite-for-tests.ts";
import { scratchFile } from "./scratch-for-tests.ts";
import { openSqliteStorage } from "./sqlite-storage.ts";

storageSuite("SQLite", () => openSqliteStorage(scratchFile()));
storageSuite("SQLite in memory", () => openSqliteStorage(":memory:"));
