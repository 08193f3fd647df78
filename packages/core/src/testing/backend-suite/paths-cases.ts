import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { FileErrorCode } from "../../backends/backend.ts";
import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";

/** Why a path that could be a name may be refused. */
const REFUSED: readonly FileErrorCode[] = [
  "INVALID_PATH",
  "OUTSIDE_ROOT",
  "PERMISSION_DENIED",
  "APPROVAL_REQUIRED",
];

/** Other spellings of `ok.txt`; `<root>` is the root with a slash at its end. */
const SPELLINGS: readonly (readonly [name: string, spelled: string])[] = [
  ["a doubled slash", "<root>/ok.txt"],
  ["a segment that is a dot", "<root>./ok.txt"],
  ["a slash at the end", "<root>ok.txt/"],
  ["a dot at the end", "<root>ok.txt/."],
  ["a backslash", "<root>.\\ok.txt"],
  ["a detour", "<root>dir/../ok.txt"],
  ["three slashes", "//<root>ok.txt"],
];

const TRAVERSALS = [
  "/../outside.txt",
  "/../../../../etc/passwd",
  "../outside.txt",
  "..",
  "/a/../../outside.txt",
];

/** Names that mean something else on some system. `<root>` as above. */
const SYSTEM_NAMES = [
  "C:\\x",
  "C:/x",
  "\\\\srv\\share\\x",
  "<root>sub\\..\\..\\x",
  "<root>f.txt:ads",
  "<root>f.txt::$DATA",
  "<root>.git./config",
  "<root>GIT~1/config",
  "<root>con",
  "<root>trailing.",
  "<root>trailing ",
];

const LEGAL_NAMES = [
  "a..b.txt",
  "..hidden",
  "a/...",
  "[...slug].ts",
  ".dotfile",
  "no-extension",
  "%2e%2e/x",
  "~tilde.txt",
];

const ODD_NAMES: readonly (readonly [name: string, path: string])[] = [
  ["a line break", "a\nb.txt"],
  ["a direction sign", "\u202egnp.exe"],
  ["an escape sequence", "\u001b[2J.txt"],
  ["a line separator", "a\u2028b.txt"],
  ["5,000 characters", "x".repeat(5_000)],
  ["300 characters", `${"y".repeat(296)}.txt`],
  ["half a surrogate pair", "\ud83d.txt"],
];

const PLAIN_NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "dir/__proto__",
  "__proto__/file",
  "length",
];

const DATA_NAMES = [
  "with space.txt",
  "it's.txt",
  'say "hi".txt',
  "$(touch pwned).txt",
  "`id`.txt",
  "a;b&c|d.txt",
  "100%_done.txt",
  "a*b?.txt",
  "-rf",
  "--help.txt",
  "#hash!.txt",
  "日本語 ü.txt",
  "🚀.txt",
  "a+b=c&d?e.txt",
  "{x,y}[z].txt",
  "<tag>.txt",
];

const spellingCases: readonly BackendCase[] = [
  ...SPELLINGS.map(
    ([name, spelled]): BackendCase => ({
      name: `FS-12 ${name}: the same file, or a typed error, and never a second file`,
      run: (subject) => isOneFile(subject, "ok.txt", inRoot(subject, spelled)),
    }),
  ),
  {
    name: "FS-12 a path that is empty is a typed error as a file",
    run: async (subject) => {
      await refused(subject.backend.read(""), ["INVALID_PATH", "IS_DIRECTORY"]);
      await refused(subject.backend.write("", "x"), ["INVALID_PATH", "IS_DIRECTORY", "FILE_EXISTS"]);
    },
  },
  {
    name: "FS-12 the root is a directory, not a file",
    run: async (subject) => {
      if (subject.root !== "/") return;
      await refused(subject.backend.read("/"), "IS_DIRECTORY");
      await refused(subject.backend.write("/", "x"), ["IS_DIRECTORY", "FILE_EXISTS", "INVALID_PATH"]);
      await refused(subject.backend.edit("/", "a", "b"), "IS_DIRECTORY");
    },
  },
  {
    name: "FS-12 a directory may be given with a slash at its end",
    run: async (subject) => {
      await subject.write("dir/a.txt", "needle\n");
      const spelled = `${subject.at("dir")}/`;
      const listed = await subject.backend.ls(spelled);
      if (listed.error !== undefined) return void (await refused(listed, "INVALID_PATH"));
      same(subject.relative(listed.files), ["dir/a.txt"]);
      same(subject.relative((await succeeded(subject.backend.glob("*", spelled))).files), ["dir/a.txt"]);
      same((await succeeded(subject.backend.grep("needle", spelled))).matches.length, 1);
    },
  },
  {
    name: "FS-13 é composed and decomposed name one file, or one of them is a typed error",
    run: (subject) => isOneFile(subject, "caf\u00e9.txt", subject.at("cafe\u0301.txt")),
  },
];

const refusalCases: readonly BackendCase[] = [
  {
    name: "FS-09 a NUL in a path is INVALID_PATH in every operation",
    run: async (subject) => {
      await subject.write("ok.txt", "text\n");
      const { backend } = subject;
      const path = `${subject.at("ok.txt")}\0.png`;
      await refused(backend.read(path), "INVALID_PATH", "read");
      await refused(readRawFile(backend, path), "INVALID_PATH", "readRaw");
      await refused(backend.write(path, "x"), "INVALID_PATH", "write");
      await refused(backend.edit(path, "text", "x"), "INVALID_PATH", "edit");
      await refused(backend.ls(path), "INVALID_PATH", "ls");
      await refused(backend.glob("*", path), "INVALID_PATH", "glob");
      await refused(backend.grep("text", path), "INVALID_PATH", "grep");
      if (backend.append) await refused(backend.append(path, "x"), "INVALID_PATH", "append");
      if (backend.delete) await refused(backend.delete(path), "INVALID_PATH", "delete");
      if (backend.uploadFiles)
        same((await backend.uploadFiles([[path, new Uint8Array(1)]]))[0]?.error, "invalid_path");
      if (backend.downloadFiles) same((await backend.downloadFiles([path]))[0]?.error, "invalid_path");
      same(await subject.text("ok.txt"), "text\n");
    },
  },
  ...TRAVERSALS.map(
    (path): BackendCase => ({
      name: `FS-01 ${path} is a typed error in every operation`,
      run: async (subject) => {
        const { backend } = subject;
        const codes: readonly FileErrorCode[] = ["INVALID_PATH", "OUTSIDE_ROOT"];
        await refused(backend.read(path), codes, "read");
        await refused(backend.write(path, "x"), codes, "write");
        await refused(backend.edit(path, "a", "b"), codes, "edit");
        await refused(backend.ls(path), codes, "FS-06 ls");
        await refused(backend.glob("*", path), codes, "FS-06 glob");
        await refused(backend.grep("a", path), codes, "FS-06 grep");
        if (backend.delete) await refused(backend.delete(path), codes, "delete");
        if (backend.uploadFiles)
          ensure((await backend.uploadFiles([[path, new Uint8Array(1)]]))[0]?.error, "upload");
        if (backend.downloadFiles) ensure((await backend.downloadFiles([path]))[0]?.error, "download");
      },
    }),
  ),
  ...["~/x", "~root/x", "<root>~/x"].map(
    (spelled): BackendCase => ({
      name: `FS-08 ${spelled} is a name or a typed error, never a home directory`,
      run: (subject) => isStoredOrRefused(subject, inRoot(subject, spelled)),
    }),
  ),
  ...SYSTEM_NAMES.map(
    (spelled): BackendCase => ({
      name: `FS-10 ${spelled} is a name or a typed error, never another place`,
      run: (subject) => isStoredOrRefused(subject, inRoot(subject, spelled)),
    }),
  ),
  ...ODD_NAMES.map(
    ([name, path]): BackendCase => ({
      name: `FS-14 a name with ${name} is stored or refused, never half of it`,
      run: (subject) => isStoredOrRefused(subject, subject.at(path)),
    }),
  ),
];

const nameCases: readonly BackendCase[] = [
  ...LEGAL_NAMES.map(
    (name): BackendCase => ({
      name: `FS-11 ${name} is a legal name`,
      run: (subject) => isKept(subject, name),
    }),
  ),
  ...PLAIN_NAMES.map(
    (name): BackendCase => ({
      name: `FS-15 ${name} is a name like any other`,
      run: async (subject) => {
        await isKept(subject, name);
        same(({} as Record<string, unknown>).content, undefined, "Object.prototype");
      },
    }),
  ),
  ...DATA_NAMES.map(
    (name): BackendCase => ({
      name: `${name} is a name like any other`,
      run: (subject) => isKept(subject, name),
    }),
  ),
];

export const pathCases: readonly BackendCase[] = [...spellingCases, ...refusalCases, ...nameCases];

function inRoot(subject: BackendUnderTest, spelled: string): string {
  return spelled.replace("<root>", subject.root === "/" ? "/" : `${subject.root}/`);
}

/** Two spellings: one key, or one of them is refused. */
async function isOneFile(subject: BackendUnderTest, name: string, spelled: string): Promise<void> {
  await subject.fill({ [name]: "first\n", "dir/x": "" });
  const read = await subject.backend.read(spelled);
  if (read.error === undefined) same(read.content, "first\n");
  else await refused(read, "INVALID_PATH");
  await refused(subject.backend.write(spelled, "second\n"), ["FILE_EXISTS", "INVALID_PATH"]);
  const edited = await subject.backend.edit(spelled, "first", "1st");
  if (edited.error === undefined) same(edited.path, subject.at(name), "path in the result");
  else await refused(edited, "INVALID_PATH");
  same((await subject.names()).toSorted(), ["dir/", name].toSorted());
  same(await subject.text(name), edited.error === undefined ? "1st\n" : "first\n");
}

async function isStoredOrRefused(subject: BackendUnderTest, path: string): Promise<void> {
  await subject.write("other.txt", "other\n");
  const written = await subject.backend.write(path, "odd needle\n");
  const after = await subject.glob("**");
  if (written.error !== undefined) {
    await refused(written, REFUSED);
    ensure(written.error.split("\n").length === 1, `a name forged output: ${show(written.error)}`);
    same(after, ["other.txt"]);
    return;
  }
  same((await succeeded(subject.backend.read(path))).content, "odd needle\n");
  const inside = written.path.startsWith(subject.root);
  ensure(inside || !path.startsWith(subject.root), `written to another place: ${show(written.path)}`);
  if (inside) same(after.toSorted(), ["other.txt", subject.nameOf(written.path)].toSorted());
}

/** Write, list, search, edit, delete: all find the one file of that name. */
async function isKept(subject: BackendUnderTest, name: string): Promise<void> {
  const path = subject.at(name);
  const written = await succeeded(subject.backend.write(path, "needle\n"));
  same(written.path, path);
  same(await subject.glob("**"), [name]);
  same((await succeeded(subject.backend.grep("needle", subject.at("")))).matches, [
    { path, line: 1, text: "needle" },
  ]);
  const slash = name.indexOf("/");
  same(await subject.names(), [slash === -1 ? name : name.slice(0, slash + 1)]);
  await refused(subject.backend.write(path, "x"), "FILE_EXISTS");
  await succeeded(subject.backend.edit(path, "needle", "thread"));
  same(await subject.text(name), "thread\n");
  if (!subject.backend.delete || subject.options.canDelete === false) return;
  await succeeded(subject.backend.delete(path));
  same(await subject.isThere(name), false);
}
