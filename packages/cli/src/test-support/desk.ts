/** A directory with a model that says what a test wants, and runs of the real program there. For tests only. */
import { readdir } from "node:fs/promises";
import { onTestFinished } from "vitest";
import { type Answer, type ProviderServer, providerServer } from "./provider-server.ts";
import { type BinaryResult, directoryWith, runBinary } from "./run-binary.ts";
import { startAtTerminal, type Terminal } from "./terminal.ts";

export const DONE: Answer = { text: ["Done."] };

export function runs(command: string, timeout?: number): Answer {
  return { call: { name: "execute", args: { command, ...(timeout === undefined ? {} : { timeout }) } } };
}

export interface Desk {
  readonly cwd: string;
  readonly server: ProviderServer;
  readonly env: Record<string, string>;
  headless(args: readonly string[], env?: Record<string, string>): Promise<BinaryResult>;
  attended(args: readonly string[]): Terminal;
  /** The last message the model received. */
  told(): string;
  files(): Promise<string[]>;
}

export async function desk(answers: readonly Answer[], files: Record<string, string> = {}): Promise<Desk> {
  const cwd = await directoryWith(files);
  const server = await providerServer([...answers, DONE]);
  onTestFinished(() => server.close());
  const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
  return {
    cwd,
    server,
    env,
    headless: (args, more) => runBinary(["run", ...args], { cwd, env: { ...env, ...more } }),
    attended: (args) => {
      const terminal = startAtTerminal(["run", ...args], { cwd, env });
      onTestFinished(() => void terminal.child.kill());
      return terminal;
    },
    told: () => JSON.stringify(server.asked().at(-1)?.body),
    files: async () => (await readdir(cwd)).sort(),
  };
}

export function endOf({ stdout }: BinaryResult): Record<string, any> {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "").data;
}
