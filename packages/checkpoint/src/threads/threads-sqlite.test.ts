import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SqliteSaver } from "../sqlite/index.ts";
import { openThreads } from "./open-threads.ts";
import { newName, ThreadMaker, textsAt } from "./thread-for-tests.ts";
import { threadsSuite } from "./threads-suite-for-tests.ts";

const directories: string[] = [];

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-threads-"));
  directories.push(directory);
  return directory;
}

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

threadsSuite("SQLite", async () => SqliteSaver.open(join(await newDirectory(), "state.db")));

describe("backup", () => {
  it("is a file another saver opens", async () => {
    const directory = await newDirectory();
    await using saver = await SqliteSaver.open(join(directory, "state.db"));
    const id = newName();
    await new ThreadMaker(saver, id).put("input", { "/a": "kept" });
    await openThreads(saver).backup(join(directory, "copy.db"));
    await openThreads(saver).delete(id);
    await using copy = await SqliteSaver.open(join(directory, "copy.db"));
    expect(await textsAt(copy, id)).toEqual({ "/a": "kept" });
  });
});
