/**
 * One of several processes that work on the same directory at once, started by tests.
 *
 * It appends and edits lines in shared ledgers, creates, replaces, deletes and reads shared files, and
 * prints as JSON what it was told had succeeded, and what it saw that must not be.
 */
import { readRawFile } from "../adapt/raw-file.ts";
import { FilesystemBackend } from "./filesystem.ts";

export interface OperationsOptions {
  readonly directory: string;
  /** Names the process in what it writes. */
  readonly worker: string;
  readonly seed: number;
  readonly operations: number;
  /** The creations every worker tries, in the same order. */
  readonly creations?: number;
}

export interface OperationsReport {
  readonly appended: string[];
  readonly edited: string[];
  /** Numbers of the creations it won. */
  readonly created: number[];
  /** Torn contents and unexpected failures. */
  readonly wrong: string[];
}

export const LEDGERS = ["/ledger-0.txt", "/sub/ledger-1.txt"];
export const LEDGER_START = "BEGIN\nEND\n";

/** Whole when it ends as it begins and all between is the same. */
export function wholeFile(id: string, lines: number): string {
  return `${id} ${lines}\n${`${id}\n`.repeat(lines)}end ${id}\n`;
}

export function isWhole(content: string): boolean {
  const [id = "", lines = ""] = (content.split("\n", 1)[0] ?? "").split(" ");
  return content === wholeFile(id, Number(lines));
}

class Worker {
  readonly #backend: FilesystemBackend;
  readonly #options: OperationsOptions;
  readonly #report: OperationsReport = { appended: [], edited: [], created: [], wrong: [] };
  #state: number;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#state = options.seed;
    this.#backend = new FilesystemBackend({ rootDir: options.directory, virtualMode: true });
  }

  async run(): Promise<OperationsReport> {
    for (let number = 0; number < (this.#options.creations ?? 0); number++) await this.#create(number);
    for (let step = 0; step < this.#options.operations; step++) await this.#step(step);
    return this.#report;
  }

  async #create(number: number): Promise<void> {
    const content = wholeFile(this.#options.worker, this.#random(50));
    const result = await this.#backend.write(`/made/file-${number}.txt`, content);
    if (result.error === undefined) this.#report.created.push(number);
    else this.#expect(result, "FILE_EXISTS");
  }

  async #step(step: number): Promise<void> {
    const token = `${this.#options.worker}-${step}`;
    const ledger = LEDGERS[this.#random(LEDGERS.length)] as string;
    const path = `/shared/${this.#random(3)}/file-${this.#random(3)}.txt`;
    const content = wholeFile(token, this.#random(3000));
    switch (this.#random(8)) {
      case 0:
      case 1:
        return this.#append(ledger, token);
      case 2:
      case 3:
        return this.#edit(ledger, token);
      case 4:
        return this.#expect(await this.#backend.write(path, content), "FILE_EXISTS");
      case 5:
        return this.#expect(await this.#backend.write(path, content, { overwrite: true }));
      case 6: {
        const doomed = this.#random(4) === 0 ? path.slice(0, path.lastIndexOf("/")) : path;
        return this.#expect(await this.#backend.delete(doomed), "FILE_NOT_FOUND");
      }
      default:
        return this.#read(path);
    }
  }

  async #append(path: string, token: string): Promise<void> {
    const result = await this.#backend.append(`${path}.log`, `${token}\n`);
    this.#expect(result);
    if (result.error === undefined) this.#report.appended.push(token);
  }

  async #edit(path: string, token: string): Promise<void> {
    const result = await this.#backend.edit(path, "END\n", `${token}\nEND\n`);
    this.#expect(result);
    if (result.error === undefined) this.#report.edited.push(token);
  }

  async #read(path: string): Promise<void> {
    const result = await readRawFile(this.#backend, path);
    this.#expect(result, "FILE_NOT_FOUND");
    if (result.error !== undefined) return;
    const text = String(result.data.content);
    if (!isWhole(text)) this.#report.wrong.push(`torn: ${JSON.stringify(text.slice(0, 200))}`);
  }

  #expect(result: { readonly error?: string | undefined; readonly code?: string }, ...codes: string[]): void {
    if (result.error !== undefined && !codes.includes(result.code ?? ""))
      this.#report.wrong.push(`${result.code}: ${result.error}`);
  }

  #random(below: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * below);
  }
}

const given = process.argv[2];
if (given !== undefined && process.argv[1]?.endsWith("random-operations-for-tests.js"))
  process.stdout.write(JSON.stringify(await new Worker(JSON.parse(given) as OperationsOptions).run()));
