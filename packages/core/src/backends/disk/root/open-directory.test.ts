import {
  closeSync,
  fstatSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { OpenDirectory, type OpenStrategy, usualStrategy } from "./open-directory.ts";

const strategies: OpenStrategy[] = usualStrategy() === "descriptor" ? ["descriptor", "path"] : ["path"];

describe.each(strategies)("a directory held open by %s", (strategy) => {
  let top: string;
  let root: OpenDirectory;

  beforeEach(() => {
    top = mkdtempSync(join(realpathSync(tmpdir()), "deepwright-open-"));
    mkdirSync(join(top, "root/inner"), { recursive: true });
    mkdirSync(join(top, "outside"));
    writeFileSync(join(top, "root/inner/file"), "inside");
    writeFileSync(join(top, "outside/file"), "outside");
    symlinkSync("../outside", join(top, "root/link"));
    symlinkSync("../outside/file", join(top, "root/filelink"));
    root = OpenDirectory.openRoot(join(top, "root"), strategy);
    onTestFinished(() => {
      root.close();
      rmSync(top, { recursive: true, force: true });
    });
  });

  it("gives very many children in parts, each of them once", () => {
    const names = Array.from({ length: 8_000 }, (_, at) => `${"a-name-of-some-length-".repeat(5)}${at}`);
    for (const name of names) linkSync(join(top, "root/inner/file"), join(top, "root", name));
    const parts = [...root.entryParts()].map((part) => part.map(({ name }) => name));
    expect(Math.max(...parts.map(({ length }) => length))).toBe(1_024);
    expect(parts.flat().sort()).toEqual([...names, "filelink", "inner", "link"].sort());
  });

  it("gives its children, and what they are", () => {
    const inner = root.child("inner");
    onTestFinished(() => inner.close());
    expect(inner.entries().map((entry) => entry.name)).toEqual(["file"]);
    expect(inner.lstat("file").size).toBe(6);
    expect(root.lstat("link").isSymbolicLink()).toBe(true);
    expect(root.readLink("link")).toBe("../outside");
    expect(root.hostPath()).toBe(join(top, "root"));
    const descriptor = inner.openFile("file");
    expect(readFileSync(descriptor, "utf8")).toBe("inside");
    closeSync(descriptor);
  });

  it("never follows a link", () => {
    expect(() => root.child("link")).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
    expect(() => root.openFile("filelink")).toThrow(expect.objectContaining({ code: "ELOOP" }));
    if (strategy === "descriptor")
      expect(() => root.checkWritable("filelink")).toThrow(expect.objectContaining({ code: "ELOOP" }));
    expect(() => root.child("missing")).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(() => root.openFile("missing")).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });

  it("never leads to what took its name or that of a directory above it", () => {
    const inner = root.child("inner");
    onTestFinished(() => inner.close());
    renameSync(join(top, "root/inner"), join(top, "moved"));
    symlinkSync("../outside", join(top, "root/inner"));
    let seen = "refused";
    try {
      const descriptor = inner.openFile("file");
      seen = readFileSync(descriptor, "utf8");
      closeSync(descriptor);
    } catch (error) {
      expect(error).toMatchObject({ code: "ELOOP" });
    }
    expect(seen).toBe(strategy === "descriptor" ? "inside" : "refused");
  });

  it.skipIf(process.platform !== "linux")("tells its mount from others of the same device", () => {
    expect(root.mount()).toMatch(strategy === "descriptor" ? /^mnt_id:\s*\d+$/ : /^device \d+$/);
  });

  it("can be closed twice, and gives nothing afterwards", () => {
    const inner = root.child("inner");
    inner.close();
    inner.close();
    if (strategy === "descriptor") expect(() => inner.path("file")).toThrow(/EBADF/);
  });

  it("opens what is no file without waiting, and leaves judging it to the caller", () => {
    const descriptor = root.openFile("inner");
    expect(fstatSync(descriptor).isDirectory()).toBe(true);
    closeSync(descriptor);
  });
});

it.skipIf(process.platform !== "linux")("leaves no descriptor open", () => {
  const before = readdirSync("/proc/self/fd").length;
  for (let round = 0; round < 50; round++) {
    const root = OpenDirectory.openRoot(tmpdir());
    expect(() => root.child("there is no such directory")).toThrow();
    root.close();
  }
  expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
});
