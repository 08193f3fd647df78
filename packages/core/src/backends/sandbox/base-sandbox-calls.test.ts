import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LocalSandbox, openLocalSandbox as open } from "./local-sandbox-for-tests.ts";

async function callsOf(sandbox: LocalSandbox, act: () => Promise<unknown>): Promise<string> {
  sandbox.calls.length = 0;
  expect(await act()).not.toHaveProperty("error");
  return sandbox.calls.join(" ");
}

/** Text that does not pack. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");
const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `const value${n} = compute(${n * 7}); // line ${n}\n`).join("");

/** Files that need more thought than plain text. */
const ODD: Readonly<Record<string, Buffer>> = {
  CRLF: Buffer.from("more"),
  "latin-1": Buffer.from("caf\u00e9", "latin1"),
  "control characters": Buffer.from("\u0001 \u001b[1m"),
};

/** What lies among the temporary files of the machine itself. */
const uploadsLeft = (): string[] =>
  readdirSync("/tmp").filter((name) => name.startsWith(".deepwright-upload-"));

describe("file operations of a sandbox", () => {
  it("on small files take one call, from the first on", async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.txt`;
    expect(await calls(() => sandbox.write(path, "one\n"))).toBe("execute");
    expect(await calls(() => sandbox.write(path, "one\n", { overwrite: true }))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "two\n"))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "zwölf\n"))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "fünf\n"))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "one", "1"))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "zw", "Zw", true))).toBe("execute");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute");
    expect(await calls(() => sandbox.ls(sandbox.root))).toBe("execute");
    expect(await calls(() => sandbox.glob("*", sandbox.root))).toBe("execute");
    expect(await calls(() => sandbox.grep("two", sandbox.root))).toBe("execute");
    expect(await calls(() => sandbox.grep("two", path))).toBe("execute");
    expect(await calls(() => sandbox.realPath(path))).toBe("execute");
    expect(readFileSync(path, "utf8")).toBe("1\ntwo\nZwölf\nfünf\n");
    expect(await calls(() => sandbox.delete(path))).toBe("execute");
    expect(sandbox.leftovers()).toEqual([]);
  });

  it.each(Object.entries(ODD))(
    "on %s of some bytes take one, and two where its encoding has to be known",
    async (_, odd) => {
      const sandbox = open();
      const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
      const path = `${sandbox.root}/a.txt`;
      const content = Buffer.concat([Buffer.from("one\n"), odd, Buffer.from("\r\ntwo\r\nthree\r\n")]);
      writeFileSync(path, content);
      expect(await calls(() => sandbox.edit(path, "two\nthree", "2\n3"))).toBe("execute");
      expect(readFileSync(path, "latin1")).toBe(content.toString("latin1").replace("two\r\nthree", "2\r\n3"));
      sandbox.calls.length = 0;
      expect(await sandbox.edit(path, "missing", "there")).toMatchObject({ code: "STRING_NOT_FOUND" });
      expect(sandbox.calls).toEqual(["execute"]);
      expect(await calls(() => sandbox.append(path, "é\n"))).toMatch(/^execute( execute)?$/);
      expect(await calls(() => sandbox.read(path))).toBe("execute");
    },
  );

  it("on source text of 200 KB take no more than two", async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.ts`;
    expect(await calls(() => sandbox.write(path, lines(4000)))).toBe("upload execute");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "compute(700);", "compute(0);"))).toBe("execute");
    expect(await calls(() => sandbox.append(path, "// end\n"))).toBe("execute");
    expect(await calls(() => sandbox.grep("compute(0)", sandbox.root))).toBe("execute");
    expect(readFileSync(path, "utf8")).toBe(`${lines(4000).replace("compute(700);", "compute(0);")}// end\n`);
    const packed = `${lines(2500)}zwölf\n`;
    expect(await calls(() => sandbox.write(path, packed, { overwrite: true }))).toBe("execute");
    expect(await calls(() => sandbox.append(path, packed))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "zwölf", packed, true))).toBe("execute");
    expect(readFileSync(path, "utf8")).toBe((packed + packed).replaceAll("zwölf", packed));
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("on files of some MB, many entries and many matches take no more than two, also where nothing packs", async () => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/large.txt`;
    const large = noise(3_000_000);
    expect(await calls(() => sandbox.write(path, `start\n${large}\n`))).toBe("upload execute");
    expect(await calls(() => sandbox.append(path, `${large}\n`))).toBe("upload execute");
    expect(await calls(() => sandbox.append(path, "end\n"))).toBe("execute");
    expect(await calls(() => sandbox.readRaw(path))).toBe("execute download");
    expect(await calls(() => sandbox.edit(path, "end\n", "END\nend\n"))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "end", "fin", true))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "END", noise(100_000)))).toBe("upload execute");
    expect(await calls(() => sandbox.read(path, 0, 2))).toBe("execute download");
    expect(readFileSync(path, "utf8").endsWith("\nfin\n")).toBe(true);
    const many = join(sandbox.root, "many");
    mkdirSync(many);
    for (let n = 0; n < 800; n++) writeFileSync(join(many, `${noise(180)}.txt`), `needle ${n}\n`);
    expect(await calls(() => sandbox.ls(many))).toBe("execute download");
    expect(await calls(() => sandbox.glob("*.txt", many))).toBe("execute download");
    expect(await calls(() => sandbox.grep("needle 7", many))).toBe("execute");
    expect(await calls(() => sandbox.delete(many))).toBe("execute");
    expect(sandbox.leftovers()).toEqual([]);
  });

  it.each(Object.entries(ODD))("on %s of some MB that were read or written take one", async (_, odd) => {
    const sandbox = open();
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/odd.txt`;
    for (const size of [200_000, 2_000_000]) {
      const content = Buffer.concat([
        Buffer.from("one\n"),
        odd,
        Buffer.from(`\r\n${noise(size)}\r\ntwo\r\n`),
      ]);
      writeFileSync(path, content);
      expect((await calls(() => sandbox.read(path, 0, 10))).split(" ").length).toBeLessThanOrEqual(2);
      expect(await calls(() => sandbox.edit(path, "one\n", "1\n"))).toBe("execute");
      expect(await calls(() => sandbox.edit(path, "two", "2"))).toBe("execute");
      const expected = content.toString("latin1").replace(/^one/, "1").replace("two", "2");
      expect(readFileSync(path, "latin1") === expected).toBe(true);
    }
    await sandbox.write(`${path}.new`, `one\r\n${noise(200_000)}\r\n`);
    expect(await calls(() => sandbox.edit(`${path}.new`, "one\n", "1\n"))).toBe("execute");
  });

  it("that were odd and are no more, or were not and are, are edited as they are", async () => {
    const sandbox = open();
    const path = `${sandbox.root}/a.txt`;
    const plain = `one\n${noise(200_000)}\ntwo\n`;
    for (const [before, after] of [
      [plain, plain.replaceAll("\n", "\r\n")],
      [plain.replaceAll("\n", "\r\n"), plain],
    ]) {
      writeFileSync(path, before as string);
      await sandbox.read(path, 0, 1);
      writeFileSync(path, after as string);
      expect(await sandbox.edit(path, "one\n", "1\n")).toEqual({ path, occurrences: 1 });
      expect(readFileSync(path, "utf8") === after?.replace("one", "1")).toBe(true);
    }
    writeFileSync(path, "small now, one\n");
    expect(await sandbox.edit(path, "one", "1")).toEqual({ path, occurrences: 1 });
    expect(readFileSync(path, "utf8")).toBe("small now, 1\n");
  });

  it("take two at most where there are a shell and the core utilities alone", async () => {
    const sandbox = open({ tools: "core" });
    const calls = (act: () => Promise<unknown>): Promise<string> => callsOf(sandbox, act);
    const path = `${sandbox.root}/a.txt`;
    expect(await calls(() => sandbox.write(path, lines(400)))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "compute(700);", "compute(0);"))).toBe("execute execute");
    expect(await calls(() => sandbox.grep("compute(0);", sandbox.root))).toBe("execute download");
    expect(await calls(() => sandbox.read(path))).toBe("execute");
    const large = `${sandbox.root}/b.txt`;
    expect(await calls(() => sandbox.write(large, `one\n${noise(100_000)}`))).toBe("upload execute");
    expect(await calls(() => sandbox.edit(large, "one", "1"))).toBe("download execute");
    expect(readFileSync(large, "utf8").slice(0, 2)).toBe("1\n");
  });

  it("compare files also where there is no sha256sum", async () => {
    const sandbox = open({ tools: "core", without: ["sha256sum"] });
    const path = `${sandbox.root}/a.txt`;
    await sandbox.write(path, `one\n${noise(100_000)}`);
    const download = sandbox.downloadFiles.bind(sandbox);
    let changes = 1;
    sandbox.downloadFiles = async (paths, options) => {
      const files = await download(paths, options);
      // The same size and, as far as a second goes, the same time.
      if (changes-- > 0) writeFileSync(path, readFileSync(path, "utf8").replace("one", "ONE"));
      return files;
    };
    expect(await sandbox.edit(path, "one", "1")).toMatchObject({ code: "STRING_NOT_FOUND" });
    expect(await sandbox.edit(path, "ONE", "1")).toEqual({ path, occurrences: 1 });
  });

  it("take no more where the first of all is a large write", async () => {
    const before = uploadsLeft();
    const sandbox = open();
    const write = () => sandbox.write(`${sandbox.root}/a.txt`, noise(100_000));
    expect(await callsOf(sandbox, write)).toBe("upload execute");
    expect(await sandbox.write(`${sandbox.root}/a.txt`, noise(100_000))).toMatchObject({
      code: "FILE_EXISTS",
    });
    expect(uploadsLeft()).toEqual(before);
    const other = open({ withoutTmp: true });
    const content = noise(100_000);
    const path = `${other.root}/a.txt`;
    expect(await callsOf(other, () => other.write(path, content))).toBe("upload execute upload execute");
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("leave nothing readable behind where uploads are another user's", async () => {
    const before = uploadsLeft();
    const sandbox = open({ unprivileged: true });
    const content = noise(100_000);
    const path = `${sandbox.root}/a.txt`;
    expect(await sandbox.write(path, content)).toEqual({ path });
    expect(await callsOf(sandbox, () => sandbox.append(path, content))).toBe("upload execute");
    expect(readFileSync(path, "utf8")).toBe(content + content);
    const left = uploadsLeft().filter((name) => !before.includes(name));
    for (const name of left) {
      expect(statSync(join("/tmp", name)).size).toBe(0);
      rmSync(join("/tmp", name));
    }
    expect(left.length).toBeLessThanOrEqual(1);
  });

  it("know their directory for uploads whatever it is called", async () => {
    const sandbox = open({ temporaryName: "odd ä'$(x)" });
    const path = `${sandbox.root}/a.txt`;
    const content = noise(100_000);
    await sandbox.ls(sandbox.root);
    expect(await callsOf(sandbox, () => sandbox.write(path, content))).toBe("upload execute");
    expect(await callsOf(sandbox, () => sandbox.append(path, content))).toBe("upload execute");
    expect(readFileSync(path, "utf8")).toBe(content + content);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("at the same time at first leave one directory for uploads", async () => {
    const sandbox = open();
    const names = ["a", "b", "c", "d"].map((name) => `${sandbox.root}/${name}`);
    await Promise.all(names.map((path) => sandbox.write(path, noise(path.endsWith("d") ? 100_000 : 10))));
    await sandbox.ls(sandbox.root);
    await sandbox.removeTemporaryFiles();
    expect(sandbox.leftovers()).toEqual([]);
    expect(sandbox.temporaryDirectories()).toEqual([]);
  });
});
