import { truncateSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalSandbox } from "./local-sandbox-for-tests.ts";

describe("BaseSandbox with files that are too large to move", () => {
  let sandbox: LocalSandbox;

  beforeEach(() => {
    sandbox = new LocalSandbox();
  });

  afterEach(() => sandbox.close());

  it("FS-19 a sparse file of 1.5 GiB is refused or paged without being moved", async () => {
    const path = `${sandbox.root}/sparse`;
    writeFileSync(path, "");
    truncateSync(path, 1.5 * 1024 ** 3);
    expect(await sandbox.read(path, 0, 10)).toMatchObject({ code: "TOO_LARGE" });
    expect(await sandbox.edit(path, "a", "b")).toMatchObject({ code: "TOO_LARGE" });
    expect(sandbox.calls).toEqual(["execute", "execute"]);
  });

  it("FS-20 of a line longer than a page the beginning is shown and marked", async () => {
    const path = `${sandbox.root}/line`;
    writeFileSync(path, `head\n${"x".repeat(12 * 1024 * 1024)}\ntail\n`);
    expect(await sandbox.read(path, 0, 10)).toMatchObject({ content: "head", nextOffset: 1 });
    const cut = await sandbox.read(path, 1, 10);
    expect(cut).toMatchObject({ truncated: true, startLine: 2, endLine: 2, nextOffset: 2 });
    expect(cut.content).toHaveLength(10 * 1024 * 1024);
    expect(await sandbox.read(path, 2, 10)).toMatchObject({ content: "tail\n", totalLines: 3 });
  });
});
