/** A case of the backend suite, and its context. */

import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { BackendProtocol, FileInfo } from "../../backends/backend.ts";
import { bytesOf, storedContent } from "../../backends/file-map/file-map.ts";
import { ensure, same, show, succeeded } from "../suite/suite-check.ts";
import type { RandomOptions } from "../suite/suite-random.ts";
import type { SuiteSize } from "../suite/suite-runner.ts";

/** A backend for one case, and the ways around it. */
export interface OpenBackend {
  readonly backend: BackendProtocol;
  /** A canonical directory with nothing in it, the only place the case touches; default `/`. */
  readonly root?: string;
  close?(): Promise<void> | void;
  /** Plants bytes behind the backend's back. Absent: `uploadFiles`. */
  put?(path: string, bytes: Uint8Array): Promise<void> | void;
  /** The bytes as they are stored. Absent: `downloadFiles`, else `readRaw`. */
  bytes?(path: string): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** Text that no message may hold, such as the directory of the host behind the root. */
  readonly hidden?: readonly string[];
}

export interface BackendSuiteOptions extends RandomOptions {
  /** Stands over all cases. */
  readonly name: string;
  /** Default: all cases. */
  readonly size?: SuiteSize;
  /** Called for each case. It may hand out one backend again and again with another `root`. */
  open(): Promise<OpenBackend> | OpenBackend;
  /** Whether `delete` must be there; absent: where it is, it is tested. So with `canAppend` and `canTransfer`. */
  readonly canDelete?: boolean;
  readonly canAppend?: boolean;
  readonly canTransfer?: boolean;
  /** Keeps bytes that are no UTF-8 text; default true. */
  readonly storesBytes?: boolean;
  /** Shows and edits text in UTF-16, Latin-1 and East Asian encodings; default false. */
  readonly detectsEncodings?: boolean;
  /** Has directories with nothing in them, so that a missing one differs from an empty one; default false. */
  readonly keepsEmptyDirectories?: boolean;
  /** Searches leave out what `.gitignore` names, and `.git`; default true. */
  readonly honoursIgnoreFiles?: boolean;
  /** Milliseconds for one case; default 120,000. */
  readonly timeoutMs?: number;
}

/** Milliseconds a hostile pattern may take on a busy machine. A search that tries every combination takes far longer. */
export const COSTLY_LIMIT_MS = 60_000;

/** Abilities that a case requires; without them it is left out. */
export type Need = "append" | "delete" | "upload" | "download" | "bytes" | "encodings" | "ignore files";

export interface BackendCase {
  /** A sentence about behaviour, which begins with the id of a security case where it is one. */
  readonly name: string;
  readonly needs?: readonly Need[];
  run(subject: BackendUnderTest): Promise<void>;
}

/** The backend of one case, seen from its root. Paths given to it are relative to the root. */
export class BackendUnderTest {
  readonly backend: BackendProtocol;
  readonly root: string;
  readonly hidden: readonly string[];
  readonly options: BackendSuiteOptions;
  readonly #opened: OpenBackend;

  constructor(opened: OpenBackend, options: BackendSuiteOptions) {
    this.backend = opened.backend;
    this.root = opened.root ?? "/";
    this.hidden = opened.hidden ?? [];
    this.options = options;
    this.#opened = opened;
  }

  /** The canonical path; that of `""` is the root. */
  at(name: string): string {
    if (name === "") return this.root;
    return this.root === "/" ? `/${name}` : `${this.root}/${name}`;
  }

  async write(name: string, content: string): Promise<void> {
    await succeeded(this.backend.write(this.at(name), content), `write of ${show(name)}`);
  }

  /** Files by name, each with its text; in one call where that is possible, for places that are far away. */
  async fill(files: Readonly<Record<string, string>>): Promise<void> {
    const entries = Object.entries(files);
    if (!this.backend.uploadFiles || this.options.canTransfer === false) {
      for (const [name, content] of entries) await this.write(name, content);
      return;
    }
    const responses = await this.backend.uploadFiles(
      entries.map(([name, content]) => [this.at(name), utf8(content)] as const),
    );
    same(
      responses.map(({ error }) => error),
      entries.map(() => null),
      "uploads",
    );
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#opened.put) return await this.#opened.put(this.at(name), bytes);
    ensure(this.backend.uploadFiles, "the case needs `put` or `uploadFiles`");
    const [response] = await this.backend.uploadFiles([[this.at(name), bytes]]);
    same(response?.error, null, `upload of ${show(name)}`);
  }

  async bytes(name: string): Promise<Uint8Array> {
    const path = this.at(name);
    const stored = this.#opened.bytes ? await this.#opened.bytes(path) : await this.#throughBackend(path);
    ensure(stored, `there is no file ${path}`);
    return stored;
  }

  /** The text as it is stored, line ends included. */
  async text(name: string): Promise<string> {
    const { data } = await succeeded(readRawFile(this.backend, this.at(name)), `readRaw of ${show(name)}`);
    return storedContent(data);
  }

  async isThere(name: string): Promise<boolean> {
    return (await readRawFile(this.backend, this.at(name))).error === undefined;
  }

  /** Names relative to `directory`, as `ls` gives them. */
  async names(directory = ""): Promise<string[]> {
    const { files } = await succeeded(this.backend.ls(this.at(directory)), `ls of ${show(directory)}`);
    return this.relative(files, directory);
  }

  async glob(pattern: string, directory = ""): Promise<string[]> {
    const result = await succeeded(this.backend.glob(pattern, this.at(directory)), `glob ${show(pattern)}`);
    return this.relative(result.files);
  }

  /** `name:line:text` of each match. */
  async grep(
    pattern: string,
    directory = "",
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<string[]> {
    const result = await succeeded(
      this.backend.grep(pattern, this.at(directory), glob, maxCount),
      `grep ${show(pattern)}`,
    );
    return result.matches.map(({ path, line, text }) => `${this.nameOf(path)}:${line}:${text}`);
  }

  relative(files: readonly FileInfo[], directory = ""): string[] {
    return files.map(({ path }) => this.nameOf(path, directory));
  }

  nameOf(path: string, directory = ""): string {
    const base = this.at(directory) === "/" ? "/" : `${this.at(directory)}/`;
    ensure(path.startsWith(base), `${show(path)} does not lie in ${show(base)}`);
    return path.slice(base.length);
  }

  /** Whether this backend can do what a case needs. One that declared it and cannot fails. */
  meets(need: Need): boolean {
    const { backend, options } = this;
    if (need === "append") return this.#has(backend.append, options.canAppend, "append");
    if (need === "delete") return this.#has(backend.delete, options.canDelete, "delete");
    if (need === "upload") return this.#has(backend.uploadFiles, options.canTransfer, "uploadFiles");
    if (need === "download") return this.#has(backend.downloadFiles, options.canTransfer, "downloadFiles");
    if (need === "ignore files") return options.honoursIgnoreFiles ?? true;
    const plants = (this.#opened.put ?? backend.uploadFiles) !== undefined;
    if (need === "bytes") return plants && (options.storesBytes ?? true);
    return plants && (options.detectsEncodings ?? false);
  }

  #has(method: unknown, declared: boolean | undefined, name: string): boolean {
    if (declared === true) ensure(method, `the backend has no method ${name}, though it declares to`);
    return declared !== false && method !== undefined;
  }

  async #throughBackend(path: string): Promise<Uint8Array | undefined> {
    if (this.backend.downloadFiles) {
      const [response] = await this.backend.downloadFiles([path]);
      return response?.content ?? undefined;
    }
    const { data } = await readRawFile(this.backend, path);
    return data && bytesOf(data);
  }
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** `\r\n` and `\r` as `\n`: a page may show either. */
export function shown(content: string | Uint8Array): string {
  ensure(typeof content === "string", `expected text, got ${show(content)}`);
  return content.replace(/\r\n?/g, "\n");
}
