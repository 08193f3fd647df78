/** Runs the program at a real terminal, a pty held by a few lines of Python. For tests only. */
import { type ChildProcess, spawn } from "node:child_process";
import { type BinaryOptions, environmentFor, MAIN } from "./run-binary.ts";

/** Makes a terminal of 100 columns and 30 rows, starts the command in it, and carries bytes both ways. */
const HOLDER = `
import fcntl, os, pty, select, signal, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
signal.signal(signal.SIGUSR1, lambda *_: os.kill(pid, signal.SIGTERM))
signal.signal(signal.SIGTERM, lambda *_: (os.kill(pid, signal.SIGKILL), sys.exit(1)))
sources = [master, 0]
while master in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b""
        if not data:
            sources.remove(source)
        elif source == master:
            os.write(1, data)
        else:
            os.write(master, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`;

export interface Terminal {
  readonly child: ChildProcess;
  /** All that was on the screen so far, without our colours; line ends are those of a terminal made plain. */
  screen(): string;
  /** Resolves when what came after the last `type` holds `text`. */
  shows(text: string): Promise<void>;
  /** Keys as a person presses them. */
  type(keys: string): void;
  /** Waits for `text`, then types the keys. */
  answer(text: string, keys: string): Promise<void>;
  /** SIGTERM to the program. */
  terminate(): void;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

export function startAtTerminal(args: readonly string[], options: BinaryOptions): Terminal {
  const env = { ...environmentFor(options), TERM: "xterm", NO_COLOR: "1", ...options.env };
  const child = spawn("python3", ["-c", HOLDER, process.execPath, MAIN, ...args], {
    cwd: options.cwd,
    env,
    stdio: "pipe",
  });
  let screen = "";
  let typedAt = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text.replaceAll("\r\n", "\n");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  child.stdin.on("error", () => {});
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const shows = async (text: string): Promise<void> => {
    while (!screen.slice(typedAt).includes(text)) {
      if (child.exitCode !== null) throw new Error(`It ended without showing '${text}':\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const type = (keys: string): void => {
    typedAt = screen.length;
    child.stdin.write(keys);
  };
  const answer = async (text: string, keys: string): Promise<void> => {
    await shows(text);
    type(keys);
  };
  const terminate = (): void => void child.kill("SIGUSR1");
  return { child, screen: () => screen, shows, type, answer, terminate, ended };
}
