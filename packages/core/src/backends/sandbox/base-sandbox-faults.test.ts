/** Faults while a file is changed: full disks, cut answers, aborts, changes by others. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { SandboxError } from "../sandbox-error.ts";
import { openLocalSandbox as open, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");

describe("an edit for which there is no room leaves the file as it was", () => {
  it.each([
    ["answers with an error", () => [{ path: "", error: "permission_denied" as const }]],
    [
      "throws",
      () => {
        throw new SandboxError("There is no room.", "FILE_OPERATION_FAILED");
      },
    ],
  ])("when an upload stops half-way and %s", async (_, answer) => {
    const sandbox = open();
    const path = `${sandbox.root}/a.txt`;
    const content = `one\n${noise(10_000)}\ntwo\n`;
    writeFileSync(path, content);
    const upload = sandbox.uploadFiles.bind(sandbox);
    let isFull = true;
    sandbox.uploadFiles = async (files, options) => {
      if (!isFull) return upload(files, options);
      isFull = false;
      await upload(files.map(([name, bytes]) => [name, bytes.subarray(0, 5000)] as const));
      return answer();
    };
    expect(await sandbox.edit(path, "two", "2")).toHaveProperty("error");
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(readdirSync(sandbox.root)).toEqual(["a.txt"]);
  });
});

describe.each(TESTED_TOOLS)("with the tools of %s", (tools) => {
  it("operations go on when a provider cuts answers", async () => {
    const sandbox = open({ tools, maxOutput: 400 });
    const path = `${sandbox.root}/a.txt`;
    writeFileSync(path, `one\r\ntwo\r\n${noise(30_000)}\r\n`);
    expect(await sandbox.edit(path, "missing", "there")).toMatchObject({ code: "STRING_NOT_FOUND" });
    expect(await sandbox.edit(path, "one\ntwo", "1\n2")).toEqual({ path, occurrences: 1 });
    expect(readFileSync(path, "utf8").slice(0, 6)).toBe("1\r\n2\r\n");
    expect((await sandbox.grep("2", sandbox.root)).matches?.[0]).toMatchObject({ path, line: 2 });
    expect(sandbox.leftovers()).toEqual([]);
  });
});

it("a file beyond 64 MB is neither read nor edited nor replaced, and never moved", async () => {
  const sandbox = open();
  const path = `${sandbox.root}/log.txt`;
  await sandbox.write(path, "one\n");
  truncateSync(path, 65 * 1024 * 1024);
  sandbox.calls.length = 0;
  expect(await sandbox.read(path)).toMatchObject({ code: "TOO_LARGE" });
  expect(await sandbox.edit(path, "one\n", "1\n")).toMatchObject({ code: "TOO_LARGE" });
  expect(await sandbox.write(path, "new")).toMatchObject({ code: "FILE_EXISTS" });
  expect(new Set(sandbox.calls)).toEqual(new Set(["execute"]));
});

it("an upload that is stopped half-way leaves the file as it was", async () => {
  const sandbox = open();
  const controller = new AbortController();
  const path = `${sandbox.root}/a.txt`;
  writeFileSync(path, "one two\n");
  const upload = sandbox.uploadFiles.bind(sandbox);
  sandbox.uploadFiles = async (files, options) => {
    if (controller.signal.aborted) return upload(files, options);
    await upload(files.map(([name]) => [name, Buffer.from("half")] as const));
    controller.abort(new Error("stop"));
    throw new Error("the connection is closed");
  };
  await expect(sandbox.edit(path, "two", "2", false, { signal: controller.signal })).rejects.toThrow();
  expect(readFileSync(path, "utf8")).toBe("one two\n");
});

it("a long answer of a command that was stopped does not stay", async () => {
  const sandbox = open();
  for (let n = 0; n < 600; n++) writeFileSync(`${sandbox.root}/${noise(100)}`, "");
  const controller = new AbortController();
  sandbox.downloadFiles = async () => {
    controller.abort(new Error("stop"));
    throw new Error("stop");
  };
  await expect(sandbox.ls(sandbox.root, { signal: controller.signal })).rejects.toThrow("stop");
  await until(() => sandbox.leftovers().length === 0);
});

it("an edit lands on what another program wrote meanwhile, and a file that never rests is a CONFLICT", async () => {
  const sandbox = open();
  const path = `${sandbox.root}/a.txt`;
  writeFileSync(path, "one\n");
  const download = sandbox.downloadFiles.bind(sandbox);
  let changes = 1;
  sandbox.downloadFiles = async (paths, options) => {
    const files = await download(paths, options);
    if (changes-- > 0) writeFileSync(path, `${readFileSync(path, "utf8")}more\n`);
    return files;
  };
  expect(await sandbox.edit(path, "one", "1")).toEqual({ path, occurrences: 1 });
  expect(readFileSync(path, "utf8")).toBe("1\nmore\n");
  changes = 100;
  expect(await sandbox.edit(path, "1", "one")).toMatchObject({ code: "CONFLICT" });
});
