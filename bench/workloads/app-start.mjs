/** CPU of the published program until the terminal app paints its first frame, beside that of `node -e 0`; one of each in turn. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../harness/rounds.mjs";
import { BENCH } from "../install.mjs";

const MAIN = join(BENCH, "node_modules/@deepwright/cli/dist/main.js");

/** Runs a command in a terminal of 120 × 40 and prints the CPU milliseconds of its process and the bytes it wrote. */
const HOLDER = `
import fcntl, os, pty, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
size = 0
while True:
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    size += len(data)
_, status, used = os.wait4(pid, 0)
print(status, (used.ru_utime + used.ru_stime) * 1000, size)
`;

export async function measure(_contender, { starts }) {
  const home = mkdtempSync(join(tmpdir(), "deepwright-bench-app-"));
  const directory = join(home, "project");
  mkdirSync(directory);
  const times = { ours: [], bare: [] };
  try {
    for (let turn = 0; turn <= starts; turn += 1) {
      const bare = cpuOf(["-e", "0"], home, directory);
      const ours = cpuOf(["--import", join(BENCH, "workloads/first-paint.mjs"), MAIN], home, directory);
      if (ours.bytes === 0) throw new Error("The app painted nothing.");
      if (turn === 0) continue;
      times.bare.push(bare.cpu);
      times.ours.push(ours.cpu);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const cpu = median(times.ours);
  return { cpu, bare: median(times.bare), overBare: cpu / median(times.bare) };
}

function cpuOf(words, home, cwd) {
  const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color" };
  const { stdout, stderr } = spawnSync("python3", ["-c", HOLDER, process.execPath, ...words], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
  const [status, cpu, bytes] = stdout.trim().split(" ").map(Number);
  if (status !== 0) throw new Error(`The program failed in its terminal: ${stderr || status}`);
  return { cpu, bytes };
}
