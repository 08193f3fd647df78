/** Starts processes that use a database. */

import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { until } from "../../../../scripts/test-time.ts";

const PROGRAM = await testProgram(new URL("./fixtures/storage-process.ts", import.meta.url));

export interface StorageProcess {
  readonly child: ChildProcess;
  /** Output so far. */
  readonly output: () => string;
  /** Ends when it does; throws what it complained about if it failed. */
  readonly ended: Promise<void>;
  /** Ends when it has said this. */
  said(text: string): Promise<void>;
}

export function startProcess(...args: readonly (string | number)[]): StorageProcess {
  return startProgram(PROGRAM, ...args);
}

/** `program`: as `testProgram` gives it. */
export function startProgram(program: string, ...args: readonly (string | number)[]): StorageProcess {
  const child = spawn(process.execPath, [program, ...args.map(String)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  let errors = "";
  child.stdout?.on("data", (data) => {
    output += data;
  });
  child.stderr?.on("data", (data) => {
    errors += data;
  });
  const ended = new Promise<void>((done, fail) => {
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") done();
      else fail(new Error(`The process ended with ${code ?? signal}: ${errors}`));
    });
  });
  ended.catch(() => {});
  const said = (text: string) =>
    until(async () => {
      if (output.includes(text)) return true;
      if (child.exitCode !== null) await ended;
      return output.includes(text);
    });
  return { child, output: () => output, ended, said };
}
