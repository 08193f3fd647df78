import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { LocalSandbox, type LocalSandboxOptions } from "./local-sandbox-for-tests.ts";

const TIMEOUT = 60_000;
const opened: LocalSandbox[] = [];

function open(options?: LocalSandboxOptions): LocalSandbox {
  const sandbox = new LocalSandbox(options);
  opened.push(sandbox);
  return sandbox;
}

async function callsOf(sandbox: LocalSandbox, act: () => Promise<unknown>): Promise<string> {
  sandbox.calls.length = 0;
  expect(await act()).not.toHaveProperty("error");
  return sandbox.calls.join(" ");
}

/** Text that does not pack. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");
const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `const value${n} = compute(${n * 7}); // line ${n}\n`).join("");

afterEach(() => {
  for (const sandbox of opened.splice(0)) sandbox.close();
});

describe("file operations of a sandbox", () => {
  it("on small files take one call, an edit two, from the first on", { timeout: TIMEOUT }, async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.txt`;
    expect(await calls(() => sandbox.write(path, "one\n"))).toBe("execute");
    expect(await calls(() => sandbox.write(path, "one\n", { overwrite: true }))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "two\n"))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "zwölf\n"))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "fünf\n"))).toBe("execute execute");
    expect(await calls(() => sandbox.edit(path, "one", "1"))).toBe("execute execute");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute");
    expect(await calls(() => sandbox.ls(sandbox.root))).toBe("execute");
    expect(await calls(() => sandbox.glob("*", sandbox.root))).toBe("execute");
    expect(await calls(() => sandbox.grep("two", sandbox.root))).toBe("execute download");
    expect(await calls(() => sandbox.grep("two", path))).toBe("execute download");
    expect(await calls(() => sandbox.realPath(path))).toBe("execute");
    expect(readFileSync(path, "utf8")).toBe("1\ntwo\nzwölf\nfünf\n");
    expect(await calls(() => sandbox.delete(path))).toBe("execute");
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("on source text of 200 KB take no more than two", { timeout: TIMEOUT }, async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.ts`;
    await sandbox.ls(sandbox.root);
    expect(await calls(() => sandbox.write(path, lines(4000)))).toBe("upload execute");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "compute(700);", "compute(0);"))).toBe("execute execute");
    expect(await calls(() => sandbox.append(path, "// end\n"))).toBe("execute");
    expect(await calls(() => sandbox.grep("compute(0)", sandbox.root))).toBe("execute download");
    expect(readFileSync(path, "utf8")).toBe(`${lines(4000).replace("compute(700);", "compute(0);")}// end\n`);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("on files of some MB, many entries and many matches take no more than two, also where nothing packs", {
    timeout: TIMEOUT,
  }, async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/large.txt`;
    const large = noise(3_000_000);
    await sandbox.ls(sandbox.root);
    expect(await calls(() => sandbox.write(path, `start\n${large}\n`))).toBe("upload execute");
    expect(await calls(() => sandbox.append(path, `${large}\n`))).toBe("upload execute");
    expect(await calls(() => sandbox.append(path, "end\n"))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute download");
    expect(await calls(() => sandbox.edit(path, "end\n", "END\nend\n"))).toBe("execute execute");
    expect(await calls(() => sandbox.edit(path, "end", "fin", true))).toBe("execute execute");
    expect(await calls(() => sandbox.read(path, 0, 2))).toBe("execute download");
    expect(readFileSync(path, "utf8")).toBe(`start\n${large}\n${large}\nEND\nfin\n`);
    const many = join(sandbox.root, "many");
    mkdirSync(many);
    for (let n = 0; n < 800; n++) writeFileSync(join(many, `${noise(180)}.txt`), `needle ${n}\n`);
    expect(await calls(() => sandbox.ls(many))).toBe("execute download");
    expect(await calls(() => sandbox.glob("*.txt", many))).toBe("execute download");
    expect(await calls(() => sandbox.grep("needle 7", many))).toBe("execute download");
    expect(await calls(() => sandbox.delete(many))).toBe("execute");
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("take as many where there are a shell and the core utilities alone", { timeout: TIMEOUT }, async () => {
    const sandbox = open({ tools: "core" });
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.txt`;
    expect(await calls(() => sandbox.write(path, lines(400)))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "compute(700);", "compute(0);"))).toBe("execute execute");
    expect(await calls(() => sandbox.grep("compute(0);", sandbox.root))).toBe("execute download");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    expect(await calls(() => sandbox.write(`${sandbox.root}/b.txt`, noise(100_000)))).toBe("upload execute");
  });

  it("take one more where the first of all is a large write", { timeout: TIMEOUT }, async () => {
    const sandbox = open();
    const write = () => sandbox.write(`${sandbox.root}/a.txt`, noise(100_000));
    expect(await callsOf(sandbox, write)).toBe("execute upload execute");
  });

  it("know their directory for uploads whatever it is called", { timeout: TIMEOUT }, async () => {
    const sandbox = open({ temporaryName: "odd ä'$(x)" });
    const path = `${sandbox.root}/a.txt`;
    const content = noise(100_000);
    expect(await callsOf(sandbox, () => sandbox.write(path, content))).toBe("execute upload execute");
    expect(await callsOf(sandbox, () => sandbox.append(path, content))).toBe("upload execute");
    expect(readFileSync(path, "utf8")).toBe(content + content);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("at the same time at first leave one directory for uploads", { timeout: TIMEOUT }, async () => {
    const sandbox = open();
    const names = ["a", "b", "c", "d"].map((name) => `${sandbox.root}/${name}`);
    await Promise.all(names.map((path) => sandbox.write(path, noise(path.endsWith("d") ? 100_000 : 10))));
    await sandbox.ls(sandbox.root);
    await sandbox.removeTemporaryFiles();
    expect(sandbox.leftovers()).toEqual([]);
    expect(sandbox.temporaryDirectories()).toEqual([]);
  });
});
