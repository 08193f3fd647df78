import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type OsSandboxOptions, osSandbox } from "../os.ts";
import type { OpenedSandbox, OpenRequest } from "../provider.ts";

/** A directory for one test. */
export function scratchDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-os-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A sandbox for one test. */
export async function openFor(
  options: OsSandboxOptions = {},
  request: Partial<OpenRequest> = {},
): Promise<OpenedSandbox> {
  const opened = await osSandbox(options).open({ key: "test", env: {}, ...request });
  onTestFinished(() => opened.destroy());
  return opened;
}

/** What a command printed, with its exit code if that was not 0. */
export async function run(opened: OpenedSandbox, command: string, timeout = 20): Promise<string> {
  const { output, exitCode } = await opened.sandbox.execute(command, { timeout });
  return exitCode === 0 ? output : `${output}[exit ${exitCode}]`;
}
