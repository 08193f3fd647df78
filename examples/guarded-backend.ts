/** Rules of an organisation around files: as a subclass of one backend, and as a wrapper around any. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type BackendProtocol,
  canonicalPath,
  createDeepAgent,
  type FileError,
  FilesystemBackend,
  type FilesystemBackendOptions,
  isWithin,
} from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";

type Change = "Writes" | "Edits" | "Deletes";
type Methods = Required<BackendProtocol>;

/** Why a change of `path` is refused. Asked with the canonical path: no other spelling gets around it. */
function refusal(change: Change, path: string, denied: readonly string[]): FileError | undefined {
  const canonical = canonicalPath(path).path ?? path;
  const directory = denied.find(
    (prefix) => isWithin(canonical, prefix) || (change === "Deletes" && isWithin(prefix, canonical)),
  );
  if (directory === undefined) return undefined;
  return { error: `${change} are not allowed under ${directory}`, code: "PERMISSION_DENIED" };
}

function directories(denyPrefixes: readonly string[]): string[] {
  return denyPrefixes.map((prefix) => prefix.replace(/\/+$/, ""));
}

/** A disk on which some directories can only be read. */
export class GuardedBackend extends FilesystemBackend {
  readonly #denied: readonly string[];

  constructor({ denyPrefixes, ...options }: FilesystemBackendOptions & { denyPrefixes: readonly string[] }) {
    super(options);
    this.#denied = directories(denyPrefixes);
  }

  override async write(...args: Parameters<Methods["write"]>) {
    return refusal("Writes", args[0], this.#denied) ?? super.write(...args);
  }

  override async append(...args: Parameters<Methods["append"]>) {
    return refusal("Writes", args[0], this.#denied) ?? super.append(...args);
  }

  override async edit(...args: Parameters<Methods["edit"]>) {
    return refusal("Edits", args[0], this.#denied) ?? super.edit(...args);
  }

  override async delete(...args: Parameters<Methods["delete"]>) {
    return refusal("Deletes", args[0], this.#denied) ?? super.delete(...args);
  }

  override async uploadFiles(...[files, options]: Parameters<Methods["uploadFiles"]>) {
    const allowed = files.filter(([path]) => refusal("Writes", path, this.#denied) === undefined);
    const stored = await super.uploadFiles(allowed, options);
    return files.map((file) => {
      const index = allowed.indexOf(file);
      return stored[index] ?? { path: file[0], error: "permission_denied" as const };
    });
  }
}

/** The same around any backend. Left out here, `uploadFiles` is an ability the wrapped backend has lost. */
export class PolicyWrapper implements BackendProtocol {
  readonly workingDirectory?: string;
  readonly readRaw?: BackendProtocol["readRaw"];
  readonly append?: BackendProtocol["append"];
  readonly delete?: BackendProtocol["delete"];
  readonly downloadFiles?: BackendProtocol["downloadFiles"];
  readonly #inner: BackendProtocol;
  readonly #denied: readonly string[];

  constructor(inner: BackendProtocol, denyPrefixes: readonly string[] = []) {
    this.#inner = inner;
    this.#denied = directories(denyPrefixes);
    this.workingDirectory = inner.workingDirectory;
    const { readRaw, append, delete: remove, downloadFiles } = inner;
    if (append) this.append = (...args) => this.#deny("Writes", args[0]) ?? append.apply(inner, args);
    if (remove) this.delete = (...args) => this.#deny("Deletes", args[0]) ?? remove.apply(inner, args);
    this.readRaw = readRaw?.bind(inner);
    this.downloadFiles = downloadFiles?.bind(inner);
  }

  ls(...args: Parameters<Methods["ls"]>) {
    return this.#inner.ls(...args);
  }

  read(...args: Parameters<Methods["read"]>) {
    return this.#inner.read(...args);
  }

  grep(...args: Parameters<Methods["grep"]>) {
    return this.#inner.grep(...args);
  }

  glob(...args: Parameters<Methods["glob"]>) {
    return this.#inner.glob(...args);
  }

  write(...args: Parameters<Methods["write"]>) {
    return this.#deny("Writes", args[0]) ?? this.#inner.write(...args);
  }

  edit(...args: Parameters<Methods["edit"]>) {
    return this.#deny("Edits", args[0]) ?? this.#inner.edit(...args);
  }

  #deny(change: Change, path: string): FileError | undefined {
    return refusal(change, path, this.#denied);
  }
}

async function main(): Promise<void> {
  const rootDir = mkdtempSync(join(tmpdir(), "deepwright-example-"));
  const backend = new GuardedBackend({ rootDir, virtualMode: true, denyPrefixes: ["/policies/"] });
  const model = scriptedModel([
    callTool("write_file", { file_path: "/policies/./new.md", content: "Anything goes.\n" }),
    callTool("write_file", { file_path: "/notes.md", content: "Allowed.\n" }),
    "Done.",
  ]);
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Try." }] });
  console.log(messages.flatMap((message) => (message.type === "tool" ? [message.text] : [])).join("\n"));

  const wrapped = new PolicyWrapper(backend, ["/archive"]);
  console.log(await wrapped.edit("/archive/a.md", "a", "b"));
  rmSync(rootDir, { recursive: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
