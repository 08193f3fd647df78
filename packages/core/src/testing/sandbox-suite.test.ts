import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecuteOptions, ExecuteResponse } from "../backends/backend.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { SANDBOX_SUITE_SIZE, sandboxSuite } from "./sandbox-suite.ts";

type Execute = (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;

/** A sandbox that does one thing wrong. */
class FaultySandbox extends LocalShellBackend {
  readonly #fault: (execute: Execute) => Execute;

  constructor(rootDir: string, fault: (execute: Execute) => Execute) {
    super({ rootDir, virtualMode: true });
    this.#fault = fault;
  }

  override execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    return this.#fault((...args) => super.execute(...args))(command, options);
  }
}

/** The cases by name, not run. */
function casesOn(fault: (execute: Execute) => Execute): Map<string, () => Promise<void> | void> {
  const cases = new Map<string, () => Promise<void> | void>();
  const runner = {
    describe: (_name: string, body: () => void) => body(),
    test: (name: string, body: () => Promise<void> | void) => {
      expect(cases.has(name)).toBe(false);
      cases.set(name, body);
    },
  };
  const open = () => {
    const rootDir = mkdtempSync(join(tmpdir(), "deepwright-suite-"));
    const close = () => rmSync(rootDir, { recursive: true, force: true });
    return { backend: new FaultySandbox(rootDir, fault), close };
  };
  sandboxSuite(runner, { name: "faulty", open, slackSeconds: 1 });
  return cases;
}

const change =
  (change: (response: ExecuteResponse) => Partial<ExecuteResponse>) =>
  (execute: Execute): Execute =>
  async (command, options) => {
    const response = await execute(command, options);
    return { ...response, ...change(response) };
  };

describe("sandboxSuite", () => {
  test("has the cases it says, each with a name of its own", () => {
    expect(casesOn((execute) => execute).size).toBe(SANDBOX_SUITE_SIZE);
    expect(SANDBOX_SUITE_SIZE).toBeGreaterThanOrEqual(40);
  });

  test.each<[string, (execute: Execute) => Execute, string]>([
    [
      "calls every command a success",
      change(() => ({ exitCode: 0 })),
      "a command that fails has its own exit code",
    ],
    [
      "takes no notice of a time limit",
      (execute) => (command, options) => execute(command.replace("60", "4"), { signal: options?.signal }),
      "a command whose time is up is stopped, with exit code 124",
    ],
    [
      "loses what was written when the time is up",
      change(({ exitCode, output }) => ({ output: exitCode === 124 ? "" : output })),
      "what was written until the time was up is kept",
    ],
    [
      "takes no notice of an abort",
      (execute) => (command, options) => execute(command.replace("60", "4"), { timeout: options?.timeout }),
      "SH-13 an abort is thrown with its reason, and soon",
    ],
    ["trims output", change(({ output }) => ({ output: output.trim() })), "output comes as it was written"],
    [
      "drops standard error",
      (execute) => (command, options) => execute(`exec 2>/dev/null\n${command}`, options),
      "what goes to standard error is output too",
    ],
    [
      "cuts off the end",
      change(({ output }) => ({ output: output.slice(0, 5000), truncated: output.length > 5000 })),
      "what is too long keeps its beginning and its end, and says so",
    ],
    [
      "puts the command in quotes of its own",
      (execute) => (command, options) => execute(`sh -c "${command}"`, options),
      "quotes, backslashes, dollars and characters of all kinds in a command are left alone",
    ],
  ])("finds a sandbox that %s", async (_name, fault, name) => {
    const body = casesOn(fault).get(name);
    await expect((async () => body?.())()).rejects.toMatchObject({ name: "SuiteFailure" });
  });
});
