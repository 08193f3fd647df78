/** Runs commands of verifiers on final files, in the sandbox of the operating system. */
import { osSandbox } from "@deepwright/sandboxes/os";
import type { CommandEnd } from "../verifiers/verifier.ts";

const SECONDS = 60;

/** A sandbox that is gone afterwards. Throws a `SandboxError` where this machine has none. */
export async function runInSandbox(
  command: string,
  files: Readonly<Record<string, string>>,
): Promise<CommandEnd> {
  const provider = osSandbox({ timeout: SECONDS });
  const opened = await provider.open({ key: "evals", env: {} });
  try {
    const encoder = new TextEncoder();
    const uploads = Object.entries(files).map(([path, content]): [string, Uint8Array] => [
      `${provider.workingDirectory}${path}`,
      encoder.encode(content),
    ]);
    const stored = await opened.sandbox.uploadFiles?.(uploads);
    const refused = stored?.find(({ error }) => error);
    if (refused !== undefined)
      throw new Error(`${refused.path} cannot be put into the sandbox: ${refused.error}`);
    const { exitCode, output } = await opened.sandbox.execute(command);
    return { exitCode: exitCode ?? -1, output };
  } finally {
    await opened.destroy();
  }
}
