import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { ExecuteResponse } from "../backend.ts";
import { openLocalSandbox as open, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const HOSTILE = [
  "'; touch pwned; '",
  "$(touch pwned)",
  "`touch pwned`",
  "-rf",
  "*",
  "[a-z]?",
  "a\"b'c",
  "%s\\0101",
  "x; touch pwned #",
  "&& touch pwned",
  " spaced  name",
  "ünï 你 🙂",
  "a:1:b",
];

describe.each(TESTED_TOOLS)("with the tools of %s", (tools) => {
  test.each(HOSTILE)("the name %j is data in every operation", async (name) => {
    const sandbox = open({ tools });
    const shown = name.replaceAll("\\", "/");
    const path = `${sandbox.root}/${shown}`;
    expect(await sandbox.write(path, "one two\n")).toEqual({ path });
    expect(await sandbox.append(path, "three\n")).toEqual({ path });
    expect(await sandbox.edit(path, "two", name)).toEqual({ path, occurrences: 1 });
    expect(await sandbox.read(path)).toMatchObject({ content: `one ${name}\nthree\n` });
    const { files } = await sandbox.glob("**", sandbox.root);
    expect(files?.map((file) => file.path)).toEqual([path]);
    const line = { path, line: 1, text: `one ${name}` };
    expect(await sandbox.grep(name, sandbox.root)).toEqual({ matches: [line] });
    expect(await sandbox.realPath(path)).toBe(path);
    expect(await sandbox.glob(name, sandbox.root)).not.toHaveProperty("pwned");
    expect(await sandbox.delete(path)).toEqual({ path });
    expect(readdirSync(sandbox.root, { recursive: true }).filter((left) => left !== "%s")).toEqual([]);
    expect(sandbox.leftovers()).toEqual([]);
    expect(sandbox.commands.join("\n")).not.toMatch(/one two|touch pwned/);
  });

  it("names with a line break or without a meaning neither forge nor hide others", async () => {
    const sandbox = open({ tools });
    const forged = `a\nF1 1 ${sandbox.root}\n81a4 1 1`;
    writeFileSync(join(sandbox.root, "a.txt"), "needle");
    mkdirSync(join(sandbox.root, forged.replaceAll("/", "|")));
    writeFileSync(join(sandbox.root, forged.replaceAll("/", "|"), "b.txt"), "needle");
    writeFileSync(Buffer.concat([Buffer.from(`${sandbox.root}/`), Buffer.of(0xff, 0x2e)]), "needle");
    const path = `${sandbox.root}/a.txt`;
    const listed = await sandbox.ls(sandbox.root);
    expect(listed.files?.map((file) => file.path)).toEqual([path]);
    expect(listed.error ?? listed.skipped).toHaveLength(2);
    const found = await sandbox.grep("needle", sandbox.root);
    expect(found.matches).toEqual([{ path, line: 1, text: "needle" }]);
    expect(found.error ?? found.skipped?.map(({ code }) => code)).toContain("INVALID_PATH");
    const matched = await sandbox.glob("*", sandbox.root);
    expect(matched.files).toMatchObject([{ path, size: 6 }]);
  });

  it("FS-16 FS-17 a pipe, a directory and a device are typed errors at once", async () => {
    const sandbox = open({ tools });
    const pipe = `${sandbox.root}/pipe`;
    execFileSync("mkfifo", [pipe]);
    const special = { code: "SPECIAL_FILE", error: `'${pipe}' is a pipe, socket or device, not a file` };
    expect(await sandbox.read(pipe)).toEqual(special);
    expect(await sandbox.readRaw(pipe)).toEqual(special);
    expect(await sandbox.write(pipe, "x")).toEqual(special);
    expect(await sandbox.append(pipe, "x")).toEqual(special);
    expect(await sandbox.edit(pipe, "a", "b")).toEqual(special);
    expect(await sandbox.grep("x", pipe)).toEqual(special);
    expect(await sandbox.grep("x", sandbox.root)).toEqual({ matches: [] });
    expect(await sandbox.read("/dev/null")).toMatchObject({ code: "SPECIAL_FILE" });
    expect(await sandbox.edit(sandbox.root, "a", "b")).toEqual({
      code: "IS_DIRECTORY",
      error: `'${sandbox.root}' is a directory`,
    });
  });

  it("what the system does not permit is a typed error, and reported by a search", async () => {
    const sandbox = open({ tools, unprivileged: true });
    for (const directory of ["closed", "fixed"]) mkdirSync(join(sandbox.root, directory));
    for (const file of ["closed/in.txt", "fixed/in.txt", "secret.txt", "open.txt"])
      writeFileSync(join(sandbox.root, file), "needle\n");
    chmodSync(join(sandbox.root, "secret.txt"), 0o000);
    chmodSync(join(sandbox.root, "fixed"), 0o555);
    chmodSync(join(sandbox.root, "closed"), 0o000);
    const at = (name: string): string => `${sandbox.root}/${name}`;
    expect(await sandbox.ls(at("closed"))).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(await sandbox.delete(at("fixed/in.txt"))).toMatchObject({ code: "PERMISSION_DENIED" });
    const found = await sandbox.grep("needle", sandbox.root);
    expect(found.matches?.map(({ path }) => path)).toEqual([at("fixed/in.txt"), at("open.txt")]);
    expect(found).toMatchObject({
      skipped: expect.arrayContaining([
        { path: at("closed"), code: "PERMISSION_DENIED" },
        { path: at("secret.txt"), code: "PERMISSION_DENIED" },
      ]),
    });
    chmodSync(join(sandbox.root, "closed"), 0o755);
    chmodSync(join(sandbox.root, "fixed"), 0o755);
  });

  it("links are not followed by a walk, and a delete removes the link alone", async () => {
    const sandbox = open({ tools });
    mkdirSync(join(sandbox.root, "real"));
    writeFileSync(join(sandbox.root, "real/file.txt"), "needle\n");
    symlinkSync("real", join(sandbox.root, "link"));
    symlinkSync("..", join(sandbox.root, "real/loop"));
    symlinkSync("file.txt", join(sandbox.root, "real/other.txt"));
    const path = `${sandbox.root}/real/file.txt`;
    expect((await sandbox.glob("**", sandbox.root)).files).toMatchObject([{ path }]);
    expect((await sandbox.grep("needle", sandbox.root)).matches).toHaveLength(1);
    const { files } = await sandbox.ls(sandbox.root);
    expect(files).toEqual([
      { path: `${sandbox.root}/link/`, is_dir: true },
      { path: `${sandbox.root}/real/`, is_dir: true },
    ]);
    expect(await sandbox.realPath(`${sandbox.root}/link/new/x`)).toBe(`${sandbox.root}/real/new/x`);
    expect(await sandbox.edit(`${sandbox.root}/real/other.txt`, "needle", "pin")).toMatchObject({
      occurrences: 1,
    });
    expect(readlinkSync(join(sandbox.root, "real/other.txt"))).toBe("file.txt");
    expect(readFileSync(path, "utf8")).toBe("pin\n");
    await sandbox.delete(`${sandbox.root}/link`);
    expect(readdirSync(join(sandbox.root, "real"))).toHaveLength(3);
  });

  it("of many creators one wins, and edits at the same time all land", async () => {
    const sandbox = open({ tools });
    const path = `${sandbox.root}/shared.txt`;
    const created = await Promise.all([1, 2, 3, 4, 5].map((n) => sandbox.write(path, `by ${n}\n`)));
    expect(created.filter((result) => result.error === undefined)).toHaveLength(1);
    expect(created.filter((result) => result.error !== undefined)).toMatchObject(
      Array(4).fill({ code: "FILE_EXISTS" }),
    );
    await sandbox.write(path, "a b c d e\n", { overwrite: true });
    await Promise.all([..."abcde"].map((letter) => sandbox.edit(path, letter, letter.toUpperCase())));
    expect(readFileSync(path, "utf8")).toBe("A B C D E\n");
  });

  it("a large file is read by pages", async () => {
    const sandbox = open({ tools });
    const path = `${sandbox.root}/huge.txt`;
    const line = (n: number): string => `line ${n}\r\n`;
    writeFileSync(path, Array.from({ length: 200_000 }, (_, n) => line(n)).join(""));
    const page = await sandbox.read(path, 150_000, 3);
    const content = "line 150000\r\nline 150001\r\nline 150002";
    const lines = { startLine: 150_001, endLine: 150_003, nextOffset: 150_003 };
    expect(page).toEqual({ content, mimeType: "text/plain", ...lines, size: statSync(path).size });
    expect(await sandbox.read(path, 199_998, 10)).toMatchObject({
      content: "line 199998\r\nline 199999\r\n",
      totalLines: 200_000,
    });
    expect(await sandbox.read(path, 200_000, 1)).toEqual({
      code: "INVALID_ARGUMENT",
      error: "Offset 200000 is past the end of the file, which has 200000 lines",
    });
    writeFileSync(path, `first\rsecond\n${"x".repeat(99)}\n`.repeat(20_000));
    expect(await sandbox.read(path, 4, 1)).toMatchObject({ content: "second", startLine: 5, endLine: 5 });
    expect(sandbox.leftovers()).toEqual([]);
  });
});

describe("BaseSandbox", () => {
  it("lists everything where output is cut off after a few hundred characters", async () => {
    const sandbox = open({ maxOutput: 700 });
    const names = Array.from({ length: 1200 }, (_, n) => `file-${String(n).padStart(4, "0")}.txt`);
    for (const name of names) writeFileSync(join(sandbox.root, name), name);
    const { files } = await sandbox.ls(sandbox.root);
    expect(files?.map(({ path }) => path)).toEqual(names.map((name) => `${sandbox.root}/${name}`));
    expect((await sandbox.glob("*", sandbox.root)).files).toHaveLength(1200);
    const found = await sandbox.grep("file-", sandbox.root, null, 100);
    expect(found).toMatchObject({ truncated: true });
    expect(found.matches).toHaveLength(100);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it.each<[string, Partial<ExecuteResponse>]>([
    ["nothing", {}],
    ["something else", { output: "sh: not found\n", exitCode: 127 }],
    ["half an answer", { truncated: true }],
  ])("answers %s with UNAVAILABLE, never with an empty result", async (_, response) => {
    const sandbox = open();
    sandbox.execute = async () => ({ output: "", exitCode: 0, truncated: false, ...response });
    for (const result of [
      await sandbox.ls("/"),
      await sandbox.glob("*", "/"),
      await sandbox.grep("x", "/"),
      await sandbox.delete("/none"),
    ])
      expect(result).toMatchObject({ code: "UNAVAILABLE" });
  });

  it("says when a search ran out of time", async () => {
    const sandbox = open();
    sandbox.execute = async () => ({ output: "", exitCode: 124, truncated: false });
    expect(await sandbox.grep("x", "/")).toEqual({ matches: [], truncated: true, timedOut: true });
    expect(await sandbox.glob("*", "/")).toEqual({ files: [], truncated: true, timedOut: true });
    expect(await sandbox.ls("/")).toMatchObject({ code: "UNAVAILABLE" });
  });

  it("throws what breaks, and an abort that comes while a command runs", async () => {
    const sandbox = open();
    const controller = new AbortController();
    const running = sandbox.ls(sandbox.root, { signal: controller.signal });
    controller.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");
    expect(sandbox.calls.length).toBeLessThanOrEqual(2);
    sandbox.execute = async () => {
      throw new Error("connection lost");
    };
    await expect(sandbox.ls("/")).rejects.toThrow("connection lost");
  });

  it("works without base64 too", async () => {
    const sandbox = open({ tools: "core", without: ["base64"] });
    const path = `${sandbox.root}/dir/ä.txt`;
    expect(await sandbox.write(path, "eins")).toEqual({ path });
    expect(await sandbox.write(path, "zwei")).toMatchObject({ code: "FILE_EXISTS" });
    expect(await sandbox.edit(path, "eins", "zwei")).toMatchObject({ occurrences: 1 });
    expect(await sandbox.read(path)).toMatchObject({ content: "zwei" });
  });

  it("keeps the mode of what it changes, and leaves nothing behind", async () => {
    const sandbox = open();
    const path = `${sandbox.root}/run.sh`;
    writeFileSync(path, "old\n");
    chmodSync(path, 0o751);
    await sandbox.edit(path, "old", "new");
    await sandbox.write(path, "newer\n", { overwrite: true });
    expect(statSync(path).mode & 0o777).toBe(0o751);
    await sandbox.edit(path, "missing", "x");
    await sandbox.write(path, "x");
    await sandbox.write(`${path}/below`, "x");
    expect(readdirSync(sandbox.root)).toEqual(["run.sh"]);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("writes and edits 160 to 200 KB, and leaves nothing in a temporary directory", async () => {
    const sandbox = open();
    for (const size of [160_000, 180_000, 200_000]) {
      const path = `${sandbox.root}/${size}.txt`;
      const text = `start\n${randomBytes(size / 2).toString("hex")}\nend\n`;
      expect(await sandbox.write(path, text)).toEqual({ path });
      expect(await sandbox.edit(path, "end\n", "END\n")).toEqual({ path, occurrences: 1 });
      expect(readFileSync(path, "utf8")).toBe(text.replace("end\n", "END\n"));
    }
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("says why a path cannot be written to or listed", async () => {
    const sandbox = open();
    const file = `${sandbox.root}/file`;
    writeFileSync(file, "x");
    expect(await sandbox.write(`${file}/a/b.txt`, "y")).toMatchObject({ code: "NOT_A_DIRECTORY" });
    expect(await sandbox.ls(file)).toEqual({
      code: "NOT_A_DIRECTORY",
      error: `'${file}' is a file, not a directory`,
    });
    expect(await sandbox.write(`${sandbox.root}/${"n".repeat(300)}`, "y")).toMatchObject({
      code: "INVALID_PATH",
    });
  });

  it("FS-21 FS-23 new text is literal, and the root cannot be deleted", async () => {
    const sandbox = open();
    const path = `${sandbox.root}/a.txt`;
    await sandbox.write(path, "x");
    await sandbox.edit(path, "x", "$& $` $' $$ $1 \\0101 %s");
    expect(readFileSync(path, "utf8")).toBe("$& $` $' $$ $1 \\0101 %s");
    expect(await sandbox.delete("/")).toEqual({
      code: "INVALID_ARGUMENT",
      error: "Cannot delete the root directory",
    });
    expect(await sandbox.delete(`${sandbox.root}/none`)).toMatchObject({ code: "FILE_NOT_FOUND" });
  });
});
