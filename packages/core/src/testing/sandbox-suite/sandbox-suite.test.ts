import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ExecuteOptions, ExecuteResponse } from "../../backends/backend.ts";
import { LocalShellBackend } from "../../backends/shell/local-shell.ts";
import { SANDBOX_SUITE_SIZE, sandboxSuite } from "./sandbox-suite.ts";

type Execute = (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;

/** A fault of a sandbox: with commands, or with files. */
type Fault = (execute: Execute) => Execute;
type FileFault = (sandbox: FaultySandbox) => void;

/** A sandbox that does one thing wrong. */
class FaultySandbox extends LocalShellBackend {
  readonly #fault: Fault;

  constructor(rootDir: string, fault: Fault) {
    mkdirSync(join(rootDir, "tmp"));
    mkdirSync(join(rootDir, "root"));
    super({ rootDir: join(rootDir, "root"), virtualMode: true, env: { TMPDIR: join(rootDir, "tmp") } });
    this.#fault = fault;
  }

  override execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    return this.#fault((...args) => super.execute(...args))(command, options);
  }
}

/** The cases by name, not run. */
function casesOn(fault: Fault, fileFault?: FileFault): Map<string, () => Promise<void> | void> {
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
    const backend = new FaultySandbox(rootDir, fault);
    fileFault?.(backend);
    return { backend, close };
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
    expect(SANDBOX_SUITE_SIZE).toBeGreaterThanOrEqual(90);
  });

  test.each<[string, (execute: Execute) => Execute, string]>([
    [
      "calls every command a success",
      change(() => ({ exitCode: 0 })),
      "a command that fails has its own exit code",
    ],
    [
      "takes no notice of a time limit",
      (execute) => (command, options) => execute(command.replace("300", "1"), { signal: options?.signal }),
      "a command whose time is up is stopped, with exit code 124",
    ],
    [
      "loses what was written when the time is up",
      change(({ exitCode, output }) => ({ output: exitCode === 124 ? "" : output })),
      "what was written until the time was up is kept",
    ],
    [
      "takes no notice of an abort",
      (execute) => (command, options) => execute(command.replace("300", "1"), { timeout: options?.timeout }),
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

  test.each<[string, Fault, string]>([
    [
      "counts time in whole seconds",
      (execute) => (command, options) =>
        execute(command, { ...options, timeout: (options?.timeout ?? 1) + 3 }),
      "a time of part of a second is kept to",
    ],
    [
      "asks a command to end and no more",
      (execute) => (command, options) =>
        execute(command.replaceAll("sleep 300", "sleep 0.5"), { signal: options?.signal }),
      "so is one whose child does not want to end",
    ],
    [
      "leaves a process of every command",
      (execute) => (command, options) => {
        const left = spawn("sh", ["-c", "sleep 600; true", command], { detached: true, stdio: "ignore" });
        left.unref();
        onTestFinished(() => void process.kill(-Number(left.pid), "SIGKILL"));
        return execute(command, options);
      },
      "many small commands one after the other leave no process behind",
    ],
    [
      "leaves a file of every command",
      (execute) => (command, options) => execute(`: > "$TMPDIR/left-$$"\n${command}`, options),
      "many small commands one after the other leave no file behind",
    ],
    [
      "mixes up what commands print at the same time",
      (execute) => {
        const running: Promise<ExecuteResponse>[] = [];
        return async (command, options) => {
          running.push(execute(command, options));
          await Promise.allSettled(running);
          return { ...(await (running[0] as Promise<ExecuteResponse>)) };
        };
      },
      "commands with much output at the same time keep it apart",
    ],
  ])("finds a sandbox that %s", async (_name, fault, name) => {
    // One and the same sandbox answers all commands of a case.
    const made = new WeakMap<object, Execute>();
    const body = casesOn((execute) => (command, options) => {
      const kept = made.get(fault) ?? fault(execute);
      made.set(fault, kept);
      return kept(command, options);
    }).get(name);
    await expect((async () => body?.())()).rejects.toMatchObject({ name: "SuiteFailure" });
  });

  test.each<[string, FileFault, string]>([
    [
      "takes bytes for text",
      (sandbox) => {
        const upload = sandbox.uploadFiles.bind(sandbox);
        sandbox.uploadFiles = (files, options) =>
          upload(
            files.map(([path, bytes]) => [path, Buffer.from(Buffer.from(bytes).toString("utf8"))] as const),
            options,
          );
      },
      "5 MB of bytes of every value arrive, and twice as many come back",
    ],
    [
      "gives pages that are off by one",
      (sandbox) => {
        const read = sandbox.read.bind(sandbox);
        sandbox.read = (path, offset = 0, limit, options) => read(path, offset + 1, limit, options);
      },
      "10 MB of text are written, and read in pages",
    ],
    [
      "loses edits that come at the same time",
      (sandbox) => {
        sandbox.edit = async (path, oldString, newString) => {
          const { data } = (await sandbox.readRaw(path)) as { data: { content: string } };
          await new Promise((resolve) => setTimeout(resolve, 50));
          await sandbox.write(path, data.content.replace(oldString, newString), { overwrite: true });
          return { path, occurrences: 1 };
        };
      },
      "of edits of one file at the same time each lands or is told that it did not",
    ],
    [
      "lets everyone create the same file",
      (sandbox) => {
        const write = sandbox.write.bind(sandbox);
        sandbox.write = (path, content) => write(path, content, { overwrite: true });
      },
      "of those who create one file at the same time one wins, and the others are told",
    ],
    [
      "forgets its copies",
      (sandbox) => {
        const write = sandbox.write.bind(sandbox);
        sandbox.write = async (path, content, options) => {
          await write(`${path}.part`, content);
          return write(path, content, options);
        };
      },
      "file operations leave nothing but the files",
    ],
  ])("finds a sandbox that %s", async (_name, fault, name) => {
    const body = casesOn((execute) => execute, fault).get(name);
    await expect((async () => body?.())()).rejects.toMatchObject({ name: "SuiteFailure" });
  });
});
