import { expect, it } from "vitest";
import { PostgresSaver, PostgresStore } from "../postgres/index.ts";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import { SqliteSaver, SqliteStore } from "../sqlite/index.ts";

const NOWHERE = "postgres://localhost:1/none";

it.each([
  ["SqliteSaver", () => SqliteSaver.open(":memory:", { busyTimout: 1 } as never)],
  ["SqliteStore", () => SqliteStore.open(":memory:", { tll: {} } as never)],
  ["SqliteStore", () => SqliteStore.open(":memory:", { ttl: { minutes: 1 } } as never)],
  ["PostgresSaver", () => PostgresSaver.open(NOWHERE, { retry: 1 } as never)],
  ["PostgresStore", () => PostgresStore.open(NOWHERE, { busyTimeout: 1 } as never)],
  ["a claim", () => new SharedMemorySaver().claimThread("t", { mode: "queue", timeout: 1 } as never)],
])("%s refuses an option it does not know", async (_, open) => {
  await expect(open()).rejects.toMatchObject({ code: "UNKNOWN_OPTION" });
});

it.each([
  () => SqliteSaver.open(":memory:", { busyTimeout: Number.NaN }),
  () => SqliteSaver.open(":memory:", { busyTimeout: "1" as never }),
  () => SqliteStore.open(":memory:", { ttl: { sweepIntervalMinutes: 0 } }),
  () => PostgresSaver.open(NOWHERE, { retryFor: -1 }),
])("times that are none are refused: %s", async (open) => {
  await expect(open()).rejects.toMatchObject({ code: "INVALID_OPTION" });
});
