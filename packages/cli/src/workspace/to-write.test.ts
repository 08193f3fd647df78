import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { toWrite } from "./to-write.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const file = (content: string, number = 5) => ({ content, modified_at: day(number).toISOString() });

describe("what a run that was broken off and went on writes", () => {
  it("all but what is newer on the disk and was not changed since it went on", async () => {
    const out = await directoryWith({});
    const onDisk = async (path: string, at: Date): Promise<void> => {
      await mkdir(join(out, "d"), { recursive: true });
      await writeFile(join(out, path), "on the disk");
      await utimes(join(out, path), at, at);
    };
    await onDisk("older.md", day(1));
    await onDisk("d/newer.md", day(9));
    await onDisk("again.md", day(9));
    const now = {
      "/lost.md": file("a"),
      "/older.md": file("b"),
      "/d/newer.md": file("c"),
      "/again.md": file("d"),
    };
    const after = { ...now, "/again.md": file("e"), "/last.md": file("f") };
    const changes = {
      created: ["/d/newer.md", "/last.md", "/lost.md"],
      changed: ["/again.md", "/older.md"],
      deleted: ["/gone.md"],
    };
    expect(await toWrite(out, changes, now, after)).toEqual({
      created: ["/last.md", "/lost.md"],
      changed: ["/again.md", "/older.md"],
      deleted: ["/gone.md"],
    });
  });
});
