import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import { openThreads } from "./open-threads.ts";
import { threadsSuite } from "./threads-suite-for-tests.ts";

threadsSuite("memory", async () => new SharedMemorySaver());

describe("openThreads", () => {
  it("says which savers it can work with", () => {
    for (const other of [new MemorySaver(), undefined])
      expect(() => openThreads(other as never)).toThrow("needs a saver of @deepwright/checkpoint");
  });
});

describe("backup", () => {
  it("has nothing to do for threads in memory, and says so", async () => {
    await expect(openThreads(new SharedMemorySaver()).backup("/tmp/x")).rejects.toMatchObject({
      code: "NOT_SUPPORTED",
      message: expect.stringContaining("export those you want to keep"),
    });
  });
});
