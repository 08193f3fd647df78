import { homeSuite } from "../home/home-suite-for-tests.ts";
import { scratchFile } from "./scratch-for-tests.ts";
import { openSqliteHome } from "./sqlite-home.ts";

homeSuite("SQLite", () => openSqliteHome(scratchFile()));
homeSuite("SQLite in memory", () => openSqliteHome(":memory:"));
