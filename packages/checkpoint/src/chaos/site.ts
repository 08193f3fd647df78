/** Where a scenario happens: its directories and processes, all of which go when it closes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleWorker, type WorkerProgram } from "./program.ts";
import { type Random, randomFrom } from "./random.ts";
import { WorkerProcess } from "./worker-process.ts";

export class ChaosSite {
  readonly random: Random;
  /** Program of the processes that are started here. */
  readonly program: WorkerProgram;
  readonly #cleanUps: (() => unknown)[] = [];
  readonly #directories: string[] = [];

  private constructor(program: WorkerProgram, seed: number) {
    this.program = program;
    this.random = randomFrom(seed);
  }

  static async open(seed: number, bundle = bundleWorker): Promise<ChaosSite> {
    const program = await bundle();
    const site = new ChaosSite(program, seed);
    site.onClose(() => rmSync(program.directory, { recursive: true, force: true }));
    return site;
  }

  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), "deepwright-chaos-"));
    this.#directories.push(directory);
    return directory;
  }

  /** Leaves the directories behind, for somebody to look at, and says where they are. */
  keepDirectories(): readonly string[] {
    return this.#directories.splice(0);
  }

  /**
   * A process that is still starting. `place`: the path of an SQLite file or the URL of a Postgres;
   * `wrapper`: a command that runs the one given after it.
   */
  start(place: string, wrapper: readonly string[] = []): WorkerProcess {
    const [command, ...parameters] = [...wrapper, process.execPath, this.program.file, place];
    const worker = new WorkerProcess(command as string, parameters);
    this.onClose(() => worker.kill());
    return worker;
  }

  async worker(place: string, wrapper: readonly string[] = []): Promise<WorkerProcess> {
    const worker = this.start(place, wrapper);
    await worker.ready;
    return worker;
  }

  onClose(act: () => unknown): void {
    this.#cleanUps.push(act);
  }

  /** Processes end before their directories go. Safe twice. */
  async close(): Promise<void> {
    for (let act = this.#cleanUps.pop(); act; act = this.#cleanUps.pop()) await act();
    for (const directory of this.#directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  }
}
