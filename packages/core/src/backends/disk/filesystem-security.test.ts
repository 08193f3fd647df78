import { spawnSync } from "node:child_process";
import {
  existsSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { PolicyBackend } from "../../permissions/policy/policy.ts";
import { asHarness } from "../harness-call.ts";
import { type DiskTree, diskTree, SECRET } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";
import { type OpenStrategy, usualStrategy } from "./root/open-directory.ts";

const strategies: OpenStrategy[] = usualStrategy() === "descriptor" ? ["descriptor", "path"] : ["path"];
const posix = process.platform !== "win32";

let tree: DiskTree;
let backend: FilesystemBackend;
let outside: string;

/** Every operation there is, on one path. */
function everything(path: string): Record<string, () => Promise<unknown>> {
  return {
    ls: () => backend.ls(path),
    read: () => backend.read(path),
    readRaw: () => backend.readRaw(path),
    write: () => backend.write(path, "overwritten"),
    overwrite: () => backend.write(path, "overwritten", { overwrite: true }),
    append: () => backend.append(path, "appended"),
    edit: () => backend.edit(path, SECRET, "edited"),
    delete: () => backend.delete(path),
    grep: () => backend.grep(SECRET, path),
    glob: () => backend.glob("**", path),
    upload: () => backend.uploadFiles([[path, Buffer.from("uploaded")]]),
    download: () => backend.downloadFiles([path]),
    realPath: async () => ({ real: await backend.realPath(path) }),
  };
}

/** Fails when an operation succeeded, showed a secret or a path of the host, or changed something outside. */
async function expectDenied(path: string, except: readonly string[] = []): Promise<void> {
  for (const [name, act] of Object.entries(everything(path))) {
    if (except.includes(name)) continue;
    const shown = JSON.stringify(await act());
    expect(shown, `${name} ${path}`).not.toContain(SECRET);
    expect(shown, `${name} ${path}`).not.toContain(tree.evil);
    expect(shown, `${name} ${path}`).toMatch(/"code":|"error":"\w+"/);
  }
  expect(tree.outside()).toBe(outside);
}

describe.each(strategies)("files on disk, directories held by %s", (openStrategy) => {
  beforeEach(() => {
    tree = diskTree();
    outside = tree.outside();
    backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true, openStrategy });
    writeFileSync(join(tree.root, "ok.txt"), "fine\n");
  });

  function link(target: string, at: string): void {
    symlinkSync(target, join(tree.root, at));
  }

  it("FS-01 a neighbour whose name begins like the root cannot be reached", async () => {
    for (const path of [
      "/../workspace-evil/secret.txt",
      "../workspace-evil/secret.txt",
      "/ok/../../workspace-evil/secret.txt",
    ])
      await expectDenied(path);
    expect(await backend.read("..%2fworkspace-evil%2fsecret.txt")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("FS-02 no operation goes through a linked directory that is outside", async () => {
    link("../workspace-evil", "linkdir");
    for (const path of ["/linkdir/secret.txt", "/linkdir/new.txt", "/linkdir/deep/other.txt", "/linkdir/a/b"])
      await expectDenied(path);
    await expectDenied("/linkdir", ["delete"]);
    expect(JSON.stringify([await backend.grep(SECRET), await backend.glob("**")])).not.toMatch(
      /secret|SECRET/,
    );
    expect(tree.outside()).toBe(outside);
  });

  it("FS-03 no operation goes through a linked file that is outside; deleting takes the link alone", async () => {
    link("../workspace-evil/secret.txt", "linkfile");
    await expectDenied("/linkfile", ["delete"]);
    expect(await backend.delete("/linkfile")).toEqual({ path: "/linkfile" });
    expect(existsSync(join(tree.root, "linkfile"))).toBe(false);
    expect(tree.outside()).toBe(outside);
  });

  it("FS-04 a dangling link creates nothing outside", async () => {
    link("../workspace-evil/new.txt", "d");
    link(join(tree.evil, "new.txt"), "absolute");
    await expectDenied("/d", ["delete"]);
    await expectDenied("/absolute", ["delete"]);
    expect(existsSync(join(tree.evil, "new.txt"))).toBe(false);
  });

  it("FS-04 a link through what does not exist leads nowhere, and around no rule", async () => {
    mkdirSync(join(tree.root, "locked"));
    link("missing/../locked/new.txt", "d");
    const guarded = new PolicyBackend(backend, { denyPrefixes: ["/locked"] });
    for (const one of [guarded, backend]) {
      expect(await one.write("/d", "x")).toMatchObject({ code: "FILE_NOT_FOUND" });
      expect(await one.append?.("/d", "x")).toMatchObject({ code: "FILE_NOT_FOUND" });
      expect(await one.read("/d")).toMatchObject({ code: "FILE_NOT_FOUND" });
    }
    expect(await backend.realPath("/d")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(readdirSync(tree.root)).not.toContain("missing");
    expect(readdirSync(join(tree.root, "locked"))).toEqual([]);
  });

  it.each(["../**", "/../../../etc/passwd", "{..,x}/**", "**/../../**"])(
    "FS-05 the pattern %s finds nothing outside",
    async (pattern) => {
      link("../workspace-evil", "linkdir");
      const shown = JSON.stringify([await backend.glob(pattern), await backend.grep(SECRET, "/", pattern)]);
      expect(shown).not.toMatch(/"path":"[^"]*(?:secret|other|passwd)/);
      expect(tree.outside()).toBe(outside);
    },
  );

  it("FS-06 a search cannot begin outside", async () => {
    for (const path of ["/../workspace-evil", "/../../../../etc"]) {
      expect(await backend.glob("*", path)).toMatchObject({ code: "INVALID_PATH" });
      expect(await backend.ls(path)).toMatchObject({ code: "INVALID_PATH" });
      expect(await backend.grep("root", path)).toMatchObject({ code: "INVALID_PATH" });
    }
    const host = new FilesystemBackend({ rootDir: tree.root, openStrategy });
    expect(await host.glob("*", tree.evil)).toMatchObject({ code: "OUTSIDE_ROOT" });
    expect(await host.ls(tree.evil)).toMatchObject({ code: "OUTSIDE_ROOT" });
    expect(await host.grep(SECRET, tree.evil)).toMatchObject({ code: "OUTSIDE_ROOT" });
  });

  it("FS-07 a path of the host means one inside the root", async () => {
    expect(await backend.read("/etc/passwd")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("FS-08 a tilde is never the home directory", async () => {
    expect(await backend.read("~/x")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write("~root/x", "1")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write("/~/x", "1")).toEqual({ path: "/~/x" });
    expect(readFileSync(join(tree.root, "~/x"), "utf8")).toBe("1");
  });

  it("FS-09 a NUL in a path is an invalid path", async () => {
    await expectDenied("/ok.txt\0.png");
    expect(await backend.read("/ok.txt\0.png")).toMatchObject({ code: "INVALID_PATH" });
  });

  it("FS-10 spellings of another system are refused or plain names, never a way out", async () => {
    for (const path of ["C:\\x", "\\\\srv\\share\\x", "/sub\\..\\..\\x", "/.git./config"])
      expect(await backend.write(path, "1"), path).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write("/GIT~1/config", "1")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    if (posix)
      for (const path of ["/f.txt:ads", "/f.txt::$DATA", "/con"])
        expect(await backend.write(path, "1")).toEqual({ path });
    expect(tree.outside()).toBe(outside);
  });

  it("FS-11 names with dots are names", async () => {
    for (const path of ["/a..b.txt", "/..hidden", "/a/..."]) {
      expect(await backend.write(path, path)).toEqual({ path });
      expect(await backend.read(path)).toMatchObject({ content: path });
    }
  });

  it("FS-12 all spellings of a path are one file, or one typed error", async () => {
    for (const path of ["//ok.txt", "/./ok.txt", "/ok.txt/", "ok.txt"]) {
      expect(await backend.read(path)).toMatchObject({ content: "fine\n" });
      expect(await backend.write(path, "1")).toMatchObject({ code: "FILE_EXISTS" });
    }
    expect(await backend.read("")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.read("/")).toMatchObject({ code: "IS_DIRECTORY" });
  });

  it("FS-13 both forms of an accented name are one file", async () => {
    expect(await backend.write("/caf\u00e9", "1")).toEqual({ path: "/caf\u00e9" });
    expect(await backend.write("/cafe\u0301", "2")).toMatchObject({ code: "FILE_EXISTS" });
    expect(await backend.read("/cafe\u0301")).toMatchObject({ content: "1" });
    expect(await backend.realPath("/cafe\u0301")).toBe("/caf\u00e9");
  });

  it("FS-14 names that could forge output are refused or stored as they are", async () => {
    for (const path of ["/a\nb", "/\u001b[2J"])
      expect(await backend.write(path, "1")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write(`/${"n".repeat(5000)}`, "1")).toMatchObject({ code: "INVALID_PATH" });
    expect(await backend.write("/\u202egnp.exe", "1")).toEqual({ path: "/\u202egnp.exe" });
    expect(await backend.read("/\u202egnp.exe")).toMatchObject({ content: "1" });
  });

  it("FS-15 names of an object's parts are names of files", async () => {
    for (const path of ["/__proto__", "/constructor", "/toString"]) {
      expect(await backend.write(path, "one")).toEqual({ path });
      expect(await backend.edit(path, "one", "two")).toMatchObject({ occurrences: 1 });
      expect(await backend.read(path)).toMatchObject({ content: "two" });
      expect((await backend.ls("/")).files?.map((file) => file.path)).toContain(path);
      expect(await backend.delete(path)).toEqual({ path });
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it.skipIf(!posix)("FS-16 a pipe keeps no one waiting", async () => {
    expect(spawnSync("mkfifo", [join(tree.root, "pipe")]).status).toBe(0);
    link("pipe", "to-pipe");
    for (const path of ["/pipe", "/to-pipe"]) {
      for (const name of ["read", "readRaw", "overwrite", "append", "edit"])
        expect(await everything(path)[name]?.(), name).toMatchObject({ code: "SPECIAL_FILE" });
      expect(await backend.write(path, "1")).toHaveProperty("code");
      expect(await backend.downloadFiles([path])).toMatchObject([{ error: "permission_denied" }]);
      expect(await backend.grep("x", path)).not.toHaveProperty("timedOut");
    }
    const found = await backend.grep("fine");
    expect(found).toMatchObject({ matches: [{ path: "/ok.txt" }] });
    expect(found).not.toHaveProperty("timedOut");
    expect(await backend.ls("/")).toMatchObject({ files: [{}, { path: "/pipe" }, { path: "/to-pipe" }] });
  });

  it.skipIf(!posix)("FS-17 a directory, socket or device is not a file", async () => {
    mkdirSync(join(tree.root, "directory"));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(tree.root, "socket"), resolve));
    onTestFinished(() => void server.close());
    const special = ["/socket"];
    if (spawnSync("mknod", [join(tree.root, "null"), "c", "1", "3"]).status === 0) special.push("/null");
    for (const name of ["read", "readRaw", "overwrite", "append", "edit"]) {
      for (const path of special)
        expect(await everything(path)[name]?.(), name).toMatchObject({ code: "SPECIAL_FILE" });
      expect(await everything("/directory")[name]?.(), name).toMatchObject({ code: "IS_DIRECTORY" });
    }
    expect(lstatSync(join(tree.root, "socket")).isSocket()).toBe(true);
  });

  it("FS-18 files that steer other programs need a person's approval, also when they do not exist", async () => {
    mkdirSync(join(tree.root, ".git/hooks"), { recursive: true });
    mkdirSync(join(tree.root, "project/.git"), { recursive: true });
    writeFileSync(join(tree.root, "project/.git/config"), "[core]");
    link(".git", "innocent");
    link(".bashrc", "notes.txt");
    for (const path of [
      "/.git/hooks/pre-commit",
      "/.git/config",
      "/.bashrc",
      "/.vscode/tasks.json",
      "/.mcp.json",
      "/.deepwright/config.yaml",
      "/.GIT/hooks/x",
      "/innocent/hooks/pre-commit",
      "/notes.txt",
    ]) {
      for (const name of ["write", "overwrite", "append"])
        expect(await everything(path)[name]?.(), `${name} ${path}`).toMatchObject({
          code: "APPROVAL_REQUIRED",
        });
      expect(await backend.edit(path, "a", "b")).toMatchObject({ code: "APPROVAL_REQUIRED" });
      expect(await backend.uploadFiles([[path, new Uint8Array()]])).toMatchObject([
        { error: "permission_denied" },
      ]);
    }
    for (const path of ["/.git", "/.git/hooks", "/project", "/project/.git/config"])
      expect(await backend.delete(path)).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(readdirSync(tree.root).sort()).toEqual([".git", "innocent", "notes.txt", "ok.txt", "project"]);
    expect(readdirSync(join(tree.root, ".git/hooks"))).toEqual([]);
    const moved = "/.deepwright/large_tool_results/call";
    expect(await backend.write(moved, "x")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await backend.write(moved, "x", asHarness())).toHaveProperty("path");
    expect(await backend.delete("/innocent")).toEqual({ path: "/innocent" });
  });

  it("FS-18 what a person approves is done, and they are shown the real path too", async () => {
    const asked: string[] = [];
    const approve = async (path: string) => {
      asked.push(path);
      return path !== "/.npmrc";
    };
    const asking = new FilesystemBackend({ rootDir: tree.root, virtualMode: true, openStrategy, approve });
    link(".git", "innocent");
    mkdirSync(join(tree.root, ".git"));
    expect(await asking.write("/innocent/config", "1")).toEqual({ path: "/innocent/config" });
    expect(await asking.write("/.npmrc", "1")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await asking.write("/plain", "1")).toEqual({ path: "/plain" });
    expect(asked).toEqual(["/.git/config", "/.npmrc"]);
  });

  it.each(["no", 1, {}, []])("an answer to approve that is not true refuses: %j", async (answer) => {
    const approve = () => answer as never;
    const asking = new FilesystemBackend({ rootDir: tree.root, virtualMode: true, openStrategy, approve });
    expect(await asking.write("/.npmrc", "1")).toMatchObject({ code: "APPROVAL_REQUIRED" });
  });

  it("FS-19 the first lines of a huge file cost what they weigh", async () => {
    const descriptor = openSync(join(tree.root, "sparse"), "w");
    ftruncateSync(descriptor, 1.5 * 1024 ** 3);
    const before = process.memoryUsage.rss();
    const result = await backend.read("/sparse", 0, 10);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 ** 2);
    if (result.error !== undefined) expect(result.code).toBe("TOO_LARGE");
  });

  it("FS-20 a file of one endless line comes in a bounded page", async () => {
    writeFileSync(join(tree.root, "line"), Buffer.alloc(50 * 1024 ** 2, "x"));
    const result = await backend.read("/line", 0, 10);
    expect(String(result.content).length).toBeLessThanOrEqual(10 * 1024 ** 2);
    expect(result).toMatchObject({ truncated: true });
  });

  it("FS-21 the new text of an edit is taken literally", async () => {
    const text = "$& $` $' $$ $1";
    expect(await backend.edit("/ok.txt", "fine", text)).toMatchObject({ occurrences: 1 });
    expect(readFileSync(join(tree.root, "ok.txt"), "utf8")).toBe(`${text}\n`);
  });

  it("FS-22 no failure shows a path of the host", async () => {
    link("../workspace-evil", "out");
    link("loop", "loop");
    mkdirSync(join(tree.root, "directory"));
    for (const path of ["/out/x", "/loop", "/nothing", "/ok.txt/x", "/directory", `/${"n".repeat(300)}`])
      for (const [name, act] of Object.entries(everything(path))) {
        if (name === "delete") continue;
        const shown = JSON.stringify(await act());
        expect(shown, `${name} ${path}`).not.toContain(basename(join(tree.root, "..")));
        expect(shown, `${name} ${path}`).not.toContain("/proc");
      }
  });

  it("FS-23 the root stays, what links lead to stays, and nothing is nothing", async () => {
    mkdirSync(join(tree.root, "directory/inner"), { recursive: true });
    link("../../workspace-evil", "directory/out");
    link("../../../workspace-evil/secret.txt", "directory/inner/out");
    expect(await backend.delete("/")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await backend.delete("/nothing")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await backend.delete("/directory")).toEqual({ path: "/directory" });
    expect(existsSync(join(tree.root, "directory"))).toBe(false);
    expect(tree.outside()).toBe(outside);
  });

  it("FS-24 an upload that names a place outside writes nothing there", async () => {
    link("../workspace-evil", "out");
    const bytes = Buffer.from("uploaded");
    const responses = await backend.uploadFiles([
      ["../x", bytes],
      ["/../../x", bytes],
      ["/out/x", bytes],
      [`${tree.evil}/x`, bytes],
    ]);
    expect(responses.map(({ error }) => error)).toEqual([
      "invalid_path",
      "invalid_path",
      "permission_denied",
      null,
    ]);
    expect(statSync(join(tree.root, tree.evil, "x")).isFile()).toBe(true);
    expect(tree.outside()).toBe(outside);
  });

  it("a file that has a second name outside can be read, and its other name never changes", async () => {
    linkSync(join(tree.evil, "secret.txt"), join(tree.root, "hard"));
    expect(await backend.read("/hard")).toMatchObject({ content: `${SECRET}\n` });
    expect(await backend.edit("/hard", SECRET, "changed")).toMatchObject({ occurrences: 1 });
    unlinkSync(join(tree.root, "hard"));
    linkSync(join(tree.evil, "secret.txt"), join(tree.root, "hard"));
    expect(await backend.append("/hard", "more")).toEqual({ path: "/hard" });
    expect(readFileSync(join(tree.root, "hard"), "utf8")).toBe(`${SECRET}\nmore`);
    expect(tree.outside()).toBe(outside);
  });
});
