import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../errors.ts";
import { type DiskTree, diskTree } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";
import { type FilesystemBackendOptions, filesystemSettings } from "./filesystem-options.ts";

let tree: DiskTree;
let backend: FilesystemBackend;

beforeEach(() => {
  tree = diskTree();
  backend = backendWith({});
});

function backendWith(options: FilesystemBackendOptions): FilesystemBackend {
  return new FilesystemBackend({ rootDir: tree.root, virtualMode: true, ...options });
}

function put(path: string, content: string | Uint8Array): void {
  const parent = join(tree.root, path, "..");
  mkdirSync(parent, { recursive: true });
  writeFileSync(join(tree.root, path), content);
}

function onDisk(path: string): string {
  return readFileSync(join(tree.root, path), "utf8");
}

const linux = process.platform === "linux";
const root = process.getuid?.() === 0;

describe("options", () => {
  it("null means absent, and an option it does not have is an error", () => {
    expect(
      () => new FilesystemBackend({ rootDir: null, virtualMode: null, maxFileSizeMb: null }),
    ).not.toThrow();
    expect(() => new FilesystemBackend({ rootdir: "/" } as object)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_OPTION" }),
    );
    expect(() => new FilesystemBackend({ maxEditSizeMb: 0 })).toThrow(ConfigurationError);
    expect(() => new FilesystemBackend({ virtualMode: true, allowOutsideRoot: true })).toThrow(
      ConfigurationError,
    );
  });

  it("looks at no file before it is asked to, and makes the root with the first write", async () => {
    const later = new FilesystemBackend({ rootDir: join(tree.root, "not/yet"), virtualMode: true });
    expect(await later.read("/x")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await later.ls("/")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await later.write("/x", "1")).toEqual({ path: "/x" });
    expect(onDisk("not/yet/x")).toBe("1");
  });

  it("on Windows only virtual paths can be used, and it says so", () => {
    expect(() => filesystemSettings({}, "win32")).toThrow(/virtualMode/);
    expect(filesystemSettings({ virtualMode: true }, "win32").workingDirectory).toBe("/");
  });
});

describe("paths of the host", () => {
  it("are real paths, and relative ones lie in the root", async () => {
    const host = new FilesystemBackend({ rootDir: tree.root });
    expect(host.workingDirectory).toBe(tree.root);
    expect(await host.write("a/b.txt", "1")).toEqual({ path: `${tree.root}/a/b.txt` });
    expect(await host.read(`${tree.root}/a/b.txt`)).toMatchObject({ content: "1" });
    expect(await host.ls("")).toEqual({ files: [{ path: `${tree.root}/a/`, is_dir: true }] });
    expect(await host.grep("1")).toMatchObject({ matches: [{ path: `${tree.root}/a/b.txt` }] });
    expect(await host.glob("*.txt")).toMatchObject({ files: [{ path: `${tree.root}/a/b.txt` }] });
    expect(await host.delete(tree.root)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("outside the root are refused unless that is allowed", async () => {
    const secret = `${tree.evil}/secret.txt`;
    const host = new FilesystemBackend({ rootDir: tree.root });
    expect(await host.read(secret)).toMatchObject({ code: "OUTSIDE_ROOT" });
    expect(await host.write(`${tree.evil}/new`, "1")).toMatchObject({ code: "OUTSIDE_ROOT" });
    const free = new FilesystemBackend({ rootDir: tree.root, allowOutsideRoot: true });
    expect(await free.read(secret)).toMatchObject({ content: "TOPSECRET\n" });
    expect(await free.write("inside.txt", "1")).toEqual({ path: `${tree.root}/inside.txt` });
    expect(await free.write(`${tree.evil}/new`, "1")).toEqual({ path: `${tree.evil}/new` });
    expect(await free.delete(join(tree.root, ".."))).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("are judged as control files by what they are in the root, not by where the root lies", async () => {
    const rootDir = join(tree.root, ".claude/worktree");
    const host = new FilesystemBackend({ rootDir });
    expect(await host.write(`${rootDir}/x.ts`, "1")).toEqual({ path: `${rootDir}/x.ts` });
    expect(await host.write(`${rootDir}/.mcp.json`, "1")).toMatchObject({ code: "APPROVAL_REQUIRED" });
  });
});

describe("write", () => {
  it("creates with parents, and leaves alone what exists", async () => {
    expect(await backend.write("/a/b/c.txt", "one")).toEqual({ path: "/a/b/c.txt" });
    expect(await backend.write("/a/b/c.txt", "two")).toEqual({
      error:
        "Cannot write to /a/b/c.txt because it already exists. Read and then make an edit, or write to a new path.",
      code: "FILE_EXISTS",
    });
    expect(onDisk("a/b/c.txt")).toBe("one");
    expect(await backend.write("/a/b/c.txt", "two", { overwrite: true })).toEqual({ path: "/a/b/c.txt" });
    expect(onDisk("a/b/c.txt")).toBe("two");
  });

  it("of many creators at once one wins", async () => {
    const results = await Promise.all(Array.from({ length: 30 }, (_, n) => backend.write("/x", `${n}`)));
    expect(results.filter((result) => result.error === undefined)).toHaveLength(1);
    expect(onDisk("x")).toBe(String(results.findIndex((result) => result.error === undefined)));
    expect(readdirSync(tree.root)).toEqual(["x"]);
  });

  it("says what stands in the way", async () => {
    put("file", "1");
    mkdirSync(join(tree.root, "directory"));
    expect(await backend.write("/file/x", "1")).toEqual({
      error: "Cannot write to /file/x because /file is a file",
      code: "NOT_A_DIRECTORY",
    });
    const isDirectory = {
      error: "Cannot write to /directory because it is a directory",
      code: "IS_DIRECTORY",
    };
    expect(await backend.write("/directory", "1")).toEqual(isDirectory);
    expect(await backend.append("/directory", "1")).toEqual(isDirectory);
    expect(await backend.write("/", "1")).toMatchObject({ code: "IS_DIRECTORY" });
    expect(await backend.write(`/${"n".repeat(300)}`, "1")).toMatchObject({ code: "INVALID_PATH" });
  });

  it("gives new files the usual mode, and replaced ones that they had", async () => {
    await backend.write("/new", "1");
    expect(statSync(join(tree.root, "new")).mode & 0o777).toBe(0o644 & ~process.umask());
    put("script.sh", "echo 1");
    chmodSync(join(tree.root, "script.sh"), 0o750);
    await backend.edit("/script.sh", "1", "2");
    expect(statSync(join(tree.root, "script.sh")).mode & 0o777).toBe(0o750);
    await backend.write("/script.sh", "echo 3", { overwrite: true });
    expect(statSync(join(tree.root, "script.sh")).mode & 0o777).toBe(0o750);
  });

  it("keeps the owner and group of a file, as far as we may set them", async () => {
    put("theirs", "1");
    if (root) chownSync(join(tree.root, "theirs"), 1234, 4321);
    const { uid, gid } = statSync(join(tree.root, "theirs"));
    await backend.edit("/theirs", "1", "2");
    expect(statSync(join(tree.root, "theirs"))).toMatchObject({ uid, gid });
  });

  it("does not reach the other name of a hard-linked file", async () => {
    for (const [number, change] of [
      () => backend.edit("/one0", "old", "new"),
      () => backend.write("/one1", "new", { overwrite: true }),
      () => backend.append("/one2", "new"),
      () => backend.uploadFiles([["/one3", Buffer.from("new")]]),
    ].entries()) {
      put(`two${number}`, "old");
      linkSync(join(tree.root, `two${number}`), join(tree.root, `one${number}`));
      await change();
      expect(onDisk(`two${number}`)).toBe("old");
      expect(onDisk(`one${number}`)).toContain("new");
    }
  });

  it("changes what a link inside the root leads to, not the link", async () => {
    put("real/file", "old");
    symlinkSync("real/file", join(tree.root, "link"));
    symlinkSync("real/new", join(tree.root, "dangling"));
    expect(await backend.edit("/link", "old", "edited")).toEqual({ path: "/link", occurrences: 1 });
    expect(await backend.write("/link", "x")).toMatchObject({ code: "FILE_EXISTS" });
    expect(await backend.write("/dangling", "created")).toEqual({ path: "/dangling" });
    expect(onDisk("real/file")).toBe("edited");
    expect(onDisk("real/new")).toBe("created");
    expect(lstatSync(join(tree.root, "link")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(tree.root, "dangling")).isSymbolicLink()).toBe(true);
  });

  it("finds a file stored under another form of its name, and never makes a second one", async () => {
    put("e\u0301.txt", "decomposed");
    expect(await backend.read("/\u00e9.txt")).toMatchObject({ content: "decomposed" });
    expect(await backend.read("/e\u0301.txt")).toMatchObject({ content: "decomposed" });
    expect(await backend.edit("/\u00e9.txt", "de", "re")).toMatchObject({ occurrences: 1 });
    expect(await backend.write("/\u00e9.txt", "x")).toMatchObject({ code: "FILE_EXISTS" });
    expect(await backend.ls("/")).toMatchObject({ files: [{ path: "/\u00e9.txt" }] });
    expect(readdirSync(tree.root)).toHaveLength(1);
  });
});

describe("edit and append", () => {
  it("parallel edits of one file all land", async () => {
    put("list", "BEGIN\nEND\n");
    const edits = Array.from({ length: 100 }, (_, n) => backend.edit("/list", "END\n", `line-${n}\nEND\n`));
    expect((await Promise.all(edits)).every((result) => result.error === undefined)).toBe(true);
    expect(onDisk("list").match(/line-\d+/g)).toHaveLength(100);
  });

  it("parallel appends all land, and the first creates the file", async () => {
    const appends = Array.from({ length: 100 }, (_, n) => backend.append("/logs/log", `line-${n}\n`));
    expect((await Promise.all(appends)).every((result) => result.error === undefined)).toBe(true);
    expect(onDisk("logs/log").match(/line-\d+\n/g)).toHaveLength(100);
  });

  it("an append has the encoding of its file", async () => {
    put("utf16", Buffer.from("\ufeffab\n", "utf16le"));
    await backend.append("/utf16", "\u00e9\n");
    expect(readFileSync(join(tree.root, "utf16")).toString("utf16le")).toBe("\ufeffab\n\u00e9\n");
    const ascii = "nothing special\n".repeat(100_000);
    put("late", Buffer.from(`${ascii}caf\u00e9\n`, "latin1"));
    await backend.append("/late", "\u00e9\n");
    expect(readFileSync(join(tree.root, "late"), "latin1").slice(-7)).toBe("caf\u00e9\n\u00e9\n");
    put("ascii", ascii);
    await backend.append("/ascii", "\u00e9\n");
    expect(onDisk("ascii").slice(-2)).toBe("\u00e9\n");
    put("binary", Buffer.from([0, 1, 2]));
    expect(await backend.append("/binary", "x")).toMatchObject({ code: "NOT_TEXT" });
  });

  it("an edit sees what another program wrote a moment ago, or gives up, but never overwrites it", async () => {
    put("file", "base END");
    let foreign = 0;
    const writer = setInterval(() => {
      foreign += 1;
      writeFileSync(join(tree.root, "file"), `foreign-${foreign} END`);
    }, 1);
    try {
      for (let round = 0; round < 50; round++) {
        const result = await backend.edit("/file", " END", " edited END");
        if (result.error !== undefined) expect(result.code).toMatch(/CONFLICT|STRING_NOT_FOUND/);
        expect(onDisk("file")).toMatch(/^(base|foreign-\d+)?( edited)*( END)?$/);
      }
    } finally {
      clearInterval(writer);
    }
  });

  it("failures name the file and the reason", async () => {
    put("file", "a a");
    mkdirSync(join(tree.root, "directory"));
    expect(await backend.edit("/nothing", "a", "b")).toEqual({
      error: "File '/nothing' not found",
      code: "FILE_NOT_FOUND",
    });
    expect(await backend.edit("/directory", "a", "b")).toMatchObject({ code: "IS_DIRECTORY" });
    expect(await backend.edit("/file", "x", "b")).toMatchObject({ code: "STRING_NOT_FOUND" });
    expect(await backend.edit("/file", "a", "b")).toMatchObject({ code: "STRING_NOT_UNIQUE" });
    expect(await backend.edit("/file", "a", "b", true)).toEqual({ path: "/file", occurrences: 2 });
  });

  it("a file over the limit is not edited, and is read all the same", async () => {
    put("large", "first\n");
    truncateSync(join(tree.root, "large"), 3 * 1024 * 1024);
    const small = backendWith({ maxEditSizeMb: 2 });
    expect(await small.edit("/large", "first", "x")).toMatchObject({ code: "TOO_LARGE" });
    expect(await small.readRaw("/large")).toMatchObject({ code: "TOO_LARGE" });
  });

  it("no file is made larger than it may be, by whatever operation, and what is there stays", async () => {
    const MEGABYTE = 1024 * 1024;
    const bounded = backendWith({ maxWriteSizeMb: 1 });
    const refused = {
      code: "TOO_LARGE",
      error: expect.stringMatching(/would be larger than the 1 MB a file may have/),
    };
    const full = "ab".repeat(MEGABYTE / 2);
    expect(await bounded.write("/full", full)).toEqual({ path: "/full" });
    expect(await bounded.append("/full", "c")).toMatchObject(refused);
    expect(await bounded.edit("/full", "ab", "abc", true)).toMatchObject(refused);
    expect(await bounded.write("/full", `${full}c`, { overwrite: true })).toMatchObject(refused);
    expect(statSync(join(tree.root, "full")).size).toBe(MEGABYTE);
    for (const text of [`${full}c`, "é".repeat(MEGABYTE * 0.6)]) {
      expect(await bounded.write("/new", text)).toMatchObject(refused);
      expect(await bounded.append("/new", text)).toMatchObject(refused);
      expect(await bounded.uploadFiles([["/new", Buffer.from(text)]])).toEqual([
        { path: "/new", error: "permission_denied" },
      ]);
    }
    expect(existsSync(join(tree.root, "new"))).toBe(false);
    expect(await bounded.edit("/full", "ab", "b", true)).toMatchObject({ occurrences: MEGABYTE / 2 });
    expect(await bounded.append("/full", "c")).toEqual({ path: "/full" });
  });
});

describe("delete", () => {
  it("takes directories with all that is in them, and links without what they lead to", async () => {
    put("a/b/c/file", "1");
    put("keep/file", "1");
    symlinkSync("../../keep", join(tree.root, "a/b/link"));
    symlinkSync("keep", join(tree.root, "shortcut"));
    expect(await backend.delete("/a")).toEqual({ path: "/a" });
    expect(await backend.delete("/shortcut")).toEqual({ path: "/shortcut" });
    expect(readdirSync(tree.root)).toEqual(["keep"]);
    expect(onDisk("keep/file")).toBe("1");
    expect(await backend.delete("/a")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await backend.delete("/keep/file/x")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it.skipIf(!linux)("takes names that are not text", async () => {
    mkdirSync(join(tree.root, "odd"));
    writeFileSync(Buffer.concat([Buffer.from(join(tree.root, "odd/")), Buffer.from([0x66, 0xff])]), "1");
    put("odd/a\nb", "1");
    expect(await backend.delete("/odd")).toEqual({ path: "/odd" });
    expect(existsSync(join(tree.root, "odd"))).toBe(false);
  });
});

describe("transfers", () => {
  it("succeed or fail file by file, in the order given", async () => {
    put("directory/file", "1");
    put(".bashrc", "1");
    const bytes = new Uint8Array([0, 255, 128]);
    expect(
      await backend.uploadFiles([
        ["/new/bytes", bytes],
        ["/directory", bytes],
        ["/../x", bytes],
        ["/directory/file/x", bytes],
        ["/.bashrc", bytes],
      ]),
    ).toEqual([
      { path: "/new/bytes", error: null },
      { path: "/directory", error: "is_directory" },
      { path: "/../x", error: "invalid_path" },
      { path: "/directory/file/x", error: "parent_not_found" },
      { path: "/.bashrc", error: "permission_denied" },
    ]);
    const [first, second, third] = await backend.downloadFiles(["/new/bytes", "/nothing", "/directory"]);
    expect(first?.content).toEqual(Buffer.from(bytes));
    expect(second).toEqual({ path: "/nothing", content: null, error: "file_not_found" });
    expect(third).toEqual({ path: "/directory", content: null, error: "is_directory" });
  });

  it("raw data is text, or bytes with their type", async () => {
    put("a.ts", "\ufeffconst a = 1;\r\n");
    put("a.png", Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1"));
    expect(await backend.readRaw("/a.ts")).toMatchObject({
      data: { content: "\ufeffconst a = 1;\r\n", mimeType: "text/typescript" },
    });
    expect(await backend.readRaw("/a.png")).toMatchObject({
      data: {
        content: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0),
        mimeType: "image/png",
      },
    });
  });
});

it("base64 under the name of a picture is written as its bytes, words as text", async () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1");
  expect(await backend.write("/written.png", png.toString("base64"))).toMatchObject({ path: "/written.png" });
  expect((await backend.downloadFiles(["/written.png"]))[0]?.content).toEqual(png);
  expect(await backend.write("/written.png", "AAAA")).toMatchObject({ code: "FILE_EXISTS" });
  await backend.write("/written.png", "not a picture", { overwrite: true });
  expect(await backend.read("/written.png")).toMatchObject({ content: "not a picture" });
});

describe("subclasses", () => {
  it("may override an operation and use the one below", async () => {
    class Upper extends FilesystemBackend {
      #count = 0;
      override async write(path: string, content: string) {
        this.#count += 1;
        return super.write(path, `${this.#count}:${content.toUpperCase()}`);
      }
    }
    const upper = new Upper({ rootDir: tree.root, virtualMode: true });
    expect(await upper.write("/x", "a")).toEqual({ path: "/x" });
    expect(onDisk("x")).toBe("1:A");
    const bound = upper.withRuntime({ state: {} });
    expect(bound).toBeInstanceOf(Upper);
    expect(await bound.write("/y", "b")).toEqual({ path: "/y" });
    expect(onDisk("y")).toBe("2:B");
  });
});

it("an abort is thrown, never a result", async () => {
  put("x", "1");
  const signal = AbortSignal.abort(new Error("stopped"));
  for (const operation of [
    () => backend.ls("/", { signal }),
    () => backend.read("/x", 0, 1, { signal }),
    () => backend.readRaw("/x", { signal }),
    () => backend.write("/y", "1", { signal }),
    () => backend.append("/y", "1", { signal }),
    () => backend.edit("/x", "1", "2", false, { signal }),
    () => backend.delete("/x", { signal }),
    () => backend.grep("1", "/", null, null, { signal }),
    () => backend.glob("*", "/", { signal }),
    () => backend.uploadFiles([["/y", new Uint8Array()]], { signal }),
    () => backend.downloadFiles(["/x"], { signal }),
    () => backend.realPath("/x", { signal }),
  ])
    await expect(operation()).rejects.toThrow("stopped");
  expect(readdirSync(tree.root)).toEqual(["x"]);
});
