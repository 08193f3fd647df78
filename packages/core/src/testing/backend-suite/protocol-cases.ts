import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { BackendProtocol, FileError, OperationOptions } from "../../backends/backend.ts";
import { bytesOf, storedContent } from "../../backends/file-map/file-map.ts";
import { ensure, refused, same, show, succeeded, thrown } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { utf8 } from "./backend-case.ts";

type Act = (backend: BackendProtocol, path: string, options: OperationOptions) => unknown;

/** Every operation there may be; one that a backend does not have gives undefined. */
const OPERATIONS: Readonly<Record<string, Act>> = {
  ls: (backend, path, options) => backend.ls(path, options),
  read: (backend, path, options) => backend.read(path, 0, 10, options),
  readRaw: (backend, path, options) => readRawFile(backend, path, options),
  write: (backend, path, options) => backend.write(`${path}.new`, "x", options),
  overwrite: (backend, path, options) => backend.write(path, "x", { ...options, overwrite: true }),
  append: (backend, path, options) => backend.append?.(path, "x", options),
  edit: (backend, path, options) => backend.edit(path, "text", "x", false, options),
  delete: (backend, path, options) => backend.delete?.(path, options),
  grep: (backend, path, options) => backend.grep("text", path, null, null, options),
  glob: (backend, path, options) => backend.glob("*", path, options),
  uploadFiles: (backend, path, options) => backend.uploadFiles?.([[path, utf8("x")]], options),
  downloadFiles: (backend, path, options) => backend.downloadFiles?.([path], options),
};

const DIRECTORY_OPERATIONS = ["ls", "glob"];
const METHODS: Readonly<Record<string, keyof BackendProtocol>> = { overwrite: "write" };

const rawCases: readonly BackendCase[] = [
  {
    name: "readRaw gives the whole text with its type and times",
    run: async (subject) => {
      const text = "line\r\n".repeat(3_000);
      await subject.write("notes.md", text);
      const { data } = await succeeded(readRawFile(subject.backend, subject.at("notes.md")));
      ensure(storedContent(data) === text, "the content came back changed");
      ensure(
        data.mimeType === undefined || data.mimeType.startsWith("text/"),
        `type: ${show(data.mimeType)}`,
      );
      for (const time of [data.created_at, data.modified_at])
        ensure(typeof time === "string" && !Number.isNaN(Date.parse(time)), `not a time: ${show(time)}`);
    },
  },
  {
    name: "readRaw gives the bytes of what is not text, or their base64",
    needs: ["bytes"],
    run: async (subject) => {
      const bytes = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255, 0);
      await subject.put("dot.png", bytes);
      const { data } = await succeeded(readRawFile(subject.backend, subject.at("dot.png")));
      same([bytesOf(data), data.mimeType], [bytes, "image/png"]);
    },
  },
  {
    name: "readRaw of nothing is FILE_NOT_FOUND, of a directory IS_DIRECTORY",
    run: async (subject) => {
      await subject.write("dir/file.txt", "1");
      const { error } = await refused(readRawFile(subject.backend, subject.at("none.txt")), "FILE_NOT_FOUND");
      same(error, `File '${subject.at("none.txt")}' not found`);
      await refused(readRawFile(subject.backend, subject.at("dir")), "IS_DIRECTORY");
    },
  },
  {
    name: "modified_at does not go back when a file is changed",
    run: async (subject) => {
      await subject.write("file.txt", "one\n");
      const before = await succeeded(readRawFile(subject.backend, subject.at("file.txt")));
      await succeeded(subject.backend.edit(subject.at("file.txt"), "one", "two"));
      const after = await succeeded(readRawFile(subject.backend, subject.at("file.txt")));
      ensure(
        Date.parse(after.data.modified_at) >= Date.parse(before.data.modified_at),
        show([before, after]),
      );
    },
  },
];

const abortCases: readonly BackendCase[] = Object.entries(OPERATIONS).map(
  ([name, act]): BackendCase => ({
    name: `${name} with an aborted signal throws, and changes nothing`,
    run: async (subject) => {
      if (subject.backend[METHODS[name] ?? (name as keyof BackendProtocol)] === undefined) return;
      await subject.write("dir/file.txt", "text\n");
      const path = subject.at(DIRECTORY_OPERATIONS.includes(name) ? "dir" : "dir/file.txt");
      const signal = AbortSignal.abort(new DOMException("stopped", "AbortError"));
      const error = await thrown(async () => act(subject.backend, path, { signal }), name);
      ensure(error instanceof Error && error.name === "AbortError", `threw ${show(String(error))}`);
      same(await subject.glob("**"), ["dir/file.txt"]);
      same(await subject.text("dir/file.txt"), "text\n");
    },
  }),
);

const resultCases: readonly BackendCase[] = [
  {
    name: "a signal that is not aborted changes nothing about a call",
    run: async (subject) => {
      await subject.write("dir/file.txt", "text\n");
      const { signal } = new AbortController();
      for (const name of ["ls", "read", "grep", "edit"]) {
        const path = subject.at(DIRECTORY_OPERATIONS.includes(name) ? "dir" : "dir/file.txt");
        const result = (await OPERATIONS[name]?.(subject.backend, path, { signal })) as { error?: string };
        same(result.error, undefined, name);
      }
      same(await subject.text("dir/file.txt"), "x\n");
    },
  },
  {
    name: "results are plain data",
    run: async (subject) => {
      await subject.write("dir/file.txt", "text\n");
      for (const [name, act] of Object.entries(OPERATIONS)) {
        const path = subject.at(DIRECTORY_OPERATIONS.includes(name) ? "dir" : "dir/file.txt");
        if (name === "delete") continue;
        isPlain(await act(subject.backend, path, {}), name);
      }
      isPlain(await subject.backend.read(subject.at("none")), "an error");
    },
  },
  {
    name: "a result is the caller's own: changing it changes no file",
    run: async (subject) => {
      await subject.write("file.txt", "text\n");
      for (const name of ["ls", "read", "grep", "glob"]) {
        const path = subject.at(DIRECTORY_OPERATIONS.includes(name) ? "" : "file.txt");
        scribble(await OPERATIONS[name]?.(subject.backend, path, {}));
      }
      same(await subject.names(), ["file.txt"]);
      same(await subject.text("file.txt"), "text\n");
    },
  },
  {
    name: "FS-22 an error has a code, shows the path as it was given and nothing of the host",
    run: async (subject) => {
      await subject.fill({ "dir/file.txt": "a a\n" });
      for (const { error, code } of await failures(subject)) {
        ensure(typeof code === "string" && /^[A-Z_]+$/.test(code), `code: ${show(code)}`);
        ensure(!error.startsWith("Error:"), `the tool adds "Error: ": ${show(error)}`);
        ensure(
          !/\bE[A-Z]{4,}: |\n\s+at |node:|node_modules/.test(error),
          `words of the host: ${show(error)}`,
        );
        for (const hidden of subject.hidden)
          ensure(!error.includes(hidden), `a path of the host: ${show(error)}`);
      }
    },
  },
  {
    name: "workingDirectory, where there is one, is a canonical path",
    run: async (subject) => {
      const { workingDirectory } = subject.backend;
      if (workingDirectory === undefined) return;
      ensure(/^\/$|^(?:\/[^/\\]+)+$/.test(workingDirectory), `not canonical: ${show(workingDirectory)}`);
    },
  },
];

export const protocolCases: readonly BackendCase[] = [...rawCases, ...abortCases, ...resultCases];

async function failures(subject: BackendUnderTest): Promise<FileError[]> {
  const { backend } = subject;
  const none = subject.at("dir/none.txt");
  const file = subject.at("dir/file.txt");
  const results: unknown[] = await Promise.all([
    backend.read(none),
    readRawFile(backend, none),
    backend.read(subject.at("dir")),
    backend.read(subject.at("nul\0")),
    backend.write(file, "x"),
    backend.write(subject.at("dir"), "x"),
    backend.write(`${file}/below`, "x"),
    backend.edit(none, "a", "b"),
    backend.edit(file, "a", "b"),
    backend.edit(file, "zzz", "b"),
    backend.ls(file),
    backend.glob("", subject.root),
    backend.grep("", subject.root),
    backend.delete?.(none),
    backend.append?.(subject.at("dir"), "x"),
  ]);
  return results.filter((result): result is FileError => {
    if (result === undefined) return false;
    ensure(typeof (result as FileError).error === "string", `expected an error, got ${show(result)}`);
    return true;
  });
}

function isPlain(value: unknown, what: string): void {
  if (value === null || value instanceof Uint8Array || typeof value !== "object") {
    ensure(typeof value !== "function" && typeof value !== "symbol", `${what} holds a ${typeof value}`);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  ensure(
    prototype === Object.prototype || prototype === null || Array.isArray(value),
    `${what} holds an instance of ${show((prototype as object).constructor?.name)}`,
  );
  for (const inner of Object.values(value)) isPlain(inner, what);
}

/** Writes into whatever of a result can be written to. */
function scribble(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    scribble(inner);
    if (typeof inner === "string") Reflect.set(value, key, "scribbled");
  }
  if (Array.isArray(value)) value.length = 0;
}
