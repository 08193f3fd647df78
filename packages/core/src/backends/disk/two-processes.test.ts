import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { until } from "../../../../../scripts/test-time.ts";
import { isTemporaryName } from "./atomic-write.ts";
import { FilesystemBackend } from "./filesystem.ts";
import {
  isWhole,
  LEDGER_START,
  LEDGERS,
  type OperationsOptions,
  type OperationsReport,
} from "./random-operations-for-tests.ts";

const PROGRAM = await testProgram(new URL("./random-operations-for-tests.ts", import.meta.url));
const FACTOR = Number(process.env.TEST_RUNS_FACTOR ?? 1);

function sharedDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-two-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const ledger of LEDGERS) {
    mkdirSync(dirname(join(directory, ledger)), { recursive: true });
    writeFileSync(join(directory, ledger), LEDGER_START);
  }
  return directory;
}

function start(options: OperationsOptions): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function report(child: ChildProcess): Promise<OperationsReport> {
  let output = "";
  child.stdout?.on("data", (data) => {
    output += data;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(code).toBe(0);
  return JSON.parse(output) as OperationsReport;
}

function linesOf(directory: string, paths: readonly string[]): string[] {
  return paths
    .flatMap((path) => readFileSync(join(directory, path), "utf8").split("\n"))
    .filter((line) => /^\w+-\d+$/.test(line));
}

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

it("two processes that work on one directory at random lose nothing and tear nothing", async () => {
  const directory = sharedDirectory();
  const operations = Math.round(5_000 * FACTOR);
  const seed = Number(process.env.TEST_SEED ?? Date.now());
  const workers = ["one", "two"].map((worker, index) => ({ worker, seed: seed + index }));
  const reports = await Promise.all(
    workers.map(({ worker, seed }) => report(start({ directory, worker, seed, operations, creations: 40 }))),
  );
  const shown = `seeds ${workers.map(({ seed }) => seed).join(", ")}`;
  expect(
    reports.flatMap(({ wrong }) => wrong),
    shown,
  ).toEqual([]);
  const edited = reports.flatMap((one) => one.edited);
  expect(linesOf(directory, LEDGERS).sort(), shown).toEqual(edited.sort());
  const appended = reports.flatMap((one) => one.appended);
  const logs = LEDGERS.map((ledger) => `${ledger}.log`);
  expect(linesOf(directory, logs).sort(), shown).toEqual(appended.sort());
  const created = reports.flatMap((one) => one.created).sort((one, other) => one - other);
  expect(created).toEqual(Array.from({ length: 40 }, (_, number) => number));
  for (const [index, { created: mine }] of reports.entries())
    for (const number of mine)
      expect(readFileSync(join(directory, `made/file-${number}.txt`), "utf8")).toContain(
        workers[index]?.worker,
      );
  const files = filesUnder(directory);
  expect(files.filter((file) => isTemporaryName(file.slice(file.lastIndexOf("/") + 1)))).toEqual([]);
  for (const file of files.filter((name) => /shared|made/.test(name)))
    expect(isWhole(readFileSync(file, "utf8")), file).toBe(true);
});

it("processes killed in the middle of their work leave whole files and no lock", async () => {
  const directory = sharedDirectory();
  for (let round = 0; round < 3; round++) {
    const child = start({ directory, worker: `killed${round}`, seed: round, operations: 1_000_000 });
    const ended = new Promise((resolve) => child.on("close", resolve));
    await until(() => linesOf(directory, LEDGERS).some((line) => line.startsWith(`killed${round}-`)));
    await new Promise((resolve) => setTimeout(resolve, 100 + 100 * round));
    child.kill("SIGKILL");
    await ended;
  }
  const backend = new FilesystemBackend({ rootDir: directory, virtualMode: true });
  for (const ledger of LEDGERS)
    expect(await backend.edit(ledger, "END\n", "last-1\nEND\n")).toMatchObject({ occurrences: 1 });
  for (const file of filesUnder(directory)) {
    if (!file.includes("/shared/")) continue;
    if (isTemporaryName(file.slice(file.lastIndexOf("/") + 1))) continue;
    const path = file.slice(directory.length);
    expect(isWhole(readFileSync(file, "utf8")), file).toBe(true);
    expect(await backend.write(path, "new", { overwrite: true })).toMatchObject({ path });
  }
});

it("of creators in several processes exactly one wins each file", async () => {
  const directory = sharedDirectory();
  const creations = Math.round(100 * FACTOR);
  const reports = await Promise.all(
    ["a", "b", "c", "d"].map((worker, seed) =>
      report(start({ directory, worker, seed, operations: 0, creations })),
    ),
  );
  expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(reports.flatMap(({ created }) => created)).toHaveLength(creations);
  expect(filesUnder(join(directory, "made"))).toHaveLength(creations);
});
