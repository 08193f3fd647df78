/** What goes wrong in a sandbox while a file is changed: full disks, cut answers, aborts. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { openLocalSandbox as open, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");

describe.each(TESTED_TOOLS)("with the tools of %s", (tools) => {
  it("an edit for which there is no room leaves the file as it was", async () => {
    const sandbox = open({ tools });
    const path = `${sandbox.root}/large.txt`;
    const content = `first one\n${noise(600_000)}\nmiddle\n${noise(600_000)}\nlast two\n`;
    writeFileSync(path, content);
    await sandbox.read(path, 0, 1);
    const execute = sandbox.execute.bind(sandbox);
    sandbox.execute = (command, options) => execute(`ulimit -f 1000; ${command}`, options);
    for (const [old, replacement] of [
      ["last two", ""],
      ["last two\n", ""],
      ["middle", "centre"],
      ["first", "1st"],
    ] as const) {
      expect(await sandbox.edit(path, old, replacement)).toHaveProperty("error");
      expect(readFileSync(path, "utf8") === content).toBe(true);
    }
    expect(readdirSync(sandbox.root)).toEqual(["large.txt"]);
  });

  it("edits go on where a provider cuts answers", async () => {
    const sandbox = open({ tools, maxOutput: 20_000 });
    const path = `${sandbox.root}/a.txt`;
    writeFileSync(path, `one\r\ntwo\r\n${noise(30_000)}\r\n`);
    expect(await sandbox.edit(path, "missing", "there")).toMatchObject({ code: "STRING_NOT_FOUND" });
    expect(await sandbox.edit(path, "one\ntwo", "1\n2")).toEqual({ path, occurrences: 1 });
    expect(readFileSync(path, "utf8").slice(0, 6)).toBe("1\r\n2\r\n");
  });

  it("long texts of any script are edited, in commands of less than 64 KB", async () => {
    const sandbox = open({ tools });
    const path = `${sandbox.root}/a.txt`;
    const long = "가나다라마".repeat(1200);
    for (const [old, replacement] of [
      [long, "짧게"],
      ["짧게", long],
      ["끝", long],
      [long.slice(0, 1000), "나".repeat(9000)],
    ] as const) {
      writeFileSync(path, `${old}|${noise(100)}|${old.length}`);
      expect(await sandbox.edit(path, old, replacement)).toEqual({ path, occurrences: 1 });
      expect(readFileSync(path, "utf8").startsWith(`${replacement}|`)).toBe(true);
    }
    expect(Math.max(...sandbox.commands.map((command) => Buffer.byteLength(command)))).toBeLessThan(65_536);
  });
});

it("a file that has grown beyond what is handled at once is refused, whatever it was before", async () => {
  const sandbox = open();
  const path = `${sandbox.root}/log.txt`;
  await sandbox.write(path, `one\r\n${noise(100_000)}\r\n`);
  truncateSync(path, 65 * 1024 * 1024);
  expect(await sandbox.edit(path, "one\n", "1\n")).toMatchObject({ code: "TOO_LARGE" });
});

it("an upload that is stopped does not stay", async () => {
  const sandbox = open();
  const controller = new AbortController();
  const upload = sandbox.uploadFiles.bind(sandbox);
  const sent: string[] = [];
  sandbox.uploadFiles = async (files) => {
    sent.push(...files.map(([path]) => path));
    await upload(files);
    controller.abort(new Error("stop"));
    throw new Error("the connection is closed");
  };
  const writing = sandbox.write(`${sandbox.root}/a`, noise(100_000), { signal: controller.signal });
  await expect(writing).rejects.toThrow();
  expect(sent).toHaveLength(1);
  await until(() => sent.every((path) => !existsSync(path)));
});

it("what a stopped command has not put in its place does not stay there", async () => {
  const sandbox = open();
  const controller = new AbortController();
  const execute = sandbox.execute.bind(sandbox);
  let part = "";
  sandbox.execute = async (command, options) => {
    if (part !== "") return execute(command, options);
    part = join(sandbox.root, `.deepwright-${/ dw '(\w+)'/.exec(command)?.[1]}.part`);
    writeFileSync(part, "half");
    controller.abort(new Error("stop"));
    throw new Error("stop");
  };
  await expect(sandbox.write(`${sandbox.root}/a`, "x", { signal: controller.signal })).rejects.toThrow(
    "stop",
  );
  await until(() => !existsSync(part));
});
