/** The app at a real terminal whose screen is read like a person does. For tests only. */
import headless from "@xterm/headless";
import type { BinaryOptions } from "./run-binary.ts";
import { startAtTerminal, type Terminal } from "./terminal.ts";

export interface AppTerminal extends Terminal {
  /** Resolves when `text` is in the rows that can be seen now. */
  sees(text: string): Promise<void>;
  /** Waits for `text`, a moment in which a person reads, then presses the keys. */
  press(text: string, keys: string): Promise<void>;
  /** All rows there are, scrollback first. */
  all(): string;
}

/** Longer than the time in which keys are not taken for an answer to a question. */
const READING_MS = 400;

export function startApp(args: readonly string[], options: BinaryOptions): AppTerminal {
  const terminal = startAtTerminal(args, options);
  const view = new headless.Terminal({ cols: 100, rows: 30, scrollback: 10_000, allowProposedApi: true });
  let fed = 0;
  const feed = async (): Promise<void> => {
    const text = terminal.screen();
    const next = text.slice(fed).replaceAll("\n", "\r\n");
    fed = text.length;
    await new Promise<void>((done) => view.write(next, done));
  };
  const rows = (from: number): string => {
    const { active } = view.buffer;
    const lines = Array.from({ length: active.length - from }, (_, i) => active.getLine(from + i));
    return lines.map((line) => line?.translateToString(true) ?? "").join("\n");
  };
  const sees = async (text: string): Promise<void> => {
    for (;;) {
      await feed();
      if (rows(view.buffer.active.baseY).includes(text)) return;
      if (terminal.child.exitCode !== null)
        throw new Error(`It ended without showing '${text}':\n${rows(0)}`);
      await pause(20);
    }
  };
  const press = async (text: string, keys: string): Promise<void> => {
    await sees(text);
    await pause(READING_MS);
    terminal.type(keys);
  };
  return { ...terminal, sees, press, all: () => rows(0) };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
