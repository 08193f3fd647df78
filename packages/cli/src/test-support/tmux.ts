/** Runs the program in a real tmux. For tests only. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type BinaryOptions, environmentFor, MAIN } from "./run-binary.ts";

export interface Tmux {
  /** Resolves when `text` is in the rows that can be seen now. */
  sees(text: string): Promise<void>;
  type(text: string): Promise<void>;
  enter(): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** All rows there are, scrollback first. */
  rows(): Promise<readonly string[]>;
  /** Everything that the program wrote. */
  written(): Promise<string>;
}

const SETTINGS = "set -g history-limit 100000\nset -g status off\n";
const SOCKET = "tmux.sock";

export async function startInTmux(
  args: readonly string[],
  options: BinaryOptions,
  [columns, rows]: readonly [number, number],
): Promise<Tmux> {
  const home = `${options.cwd}.home`;
  const [settings, output] = [join(home, "tmux.conf"), join(home, "output")];
  await mkdir(home, { recursive: true });
  await writeFile(settings, SETTINGS);
  await writeFile(output, "");
  const env = { ...environmentFor(options), TERM: "xterm-256color", LC_ALL: "C.UTF-8", ...options.env };
  const tmux = async (...words: string[]): Promise<string> => {
    const all = ["-u", "-S", join(home, SOCKET), "-f", settings, ...words];
    return (await promisify(execFile)("tmux", all, { cwd: options.cwd, env, maxBuffer: 1e8 })).stdout;
  };
  const pane = (...words: string[]): Promise<string> => tmux(words[0] ?? "", "-t", "app", ...words.slice(1));
  const program = [process.execPath, MAIN, ...args];
  const size = ["-x", String(columns), "-y", String(rows)];
  await tmux("new-session", "-d", "-s", "app", ...size, ...program);
  onTestFinished(async () => void (await tmux("kill-server").catch(() => "")));
  await pane("pipe-pane", `cat >> '${output}'`);
  return {
    sees: (text) => until(async () => (await pane("capture-pane", "-p")).includes(text)),
    type: async (text) => void (await pane("send-keys", "-l", text)),
    enter: async () => void (await pane("send-keys", "Enter")),
    resize: async (width, height) =>
      void (await pane("resize-window", "-x", String(width), "-y", String(height))),
    rows: async () => (await pane("capture-pane", "-p", "-J", "-S", "-")).split("\n"),
    written: () => readFile(output, "utf8"),
  };
}
