/** LocalShellBackend: commands, environment, limits and its life. */
import { isSandboxBackend, LocalShellBackend } from "library";
import { outcome } from "../../kit/look.ts";
import { scratch } from "../../kit/scratch.ts";

export default async function program() {
  const rootDir = scratch("shell");
  const shell = await LocalShellBackend.create({
    rootDir,
    virtualMode: true,
    env: { GREETING: "hello", PATH: process.env.PATH ?? "" },
    initialFiles: { "/start.txt": "from the start" },
    maxOutputBytes: 1000,
    timeout: 20,
  });
  const long = await shell.execute("head -c 5000 /dev/zero | tr '\\0' x");
  const answers = {
    isSandbox: isSandboxBackend(shell),
    idIsText: typeof shell.id === "string" && shell.id.length > 0,
    running: shell.isRunning,
    initialized: shell.isInitialized,
    echo: await shell.execute("echo $GREETING"),
    initial: (await shell.execute("cat start.txt")).output,
    failed: (await shell.execute("exit 3")).exitCode,
    errorOutput: (await shell.execute("echo oops >&2")).output.includes("oops"),
    failedWithOutput: (await shell.execute("echo before; exit 2")).output.includes("before"),
    empty: await outcome(() => shell.execute("")),
    truncated: [long.truncated, long.output.length < 2000],
    noHome: (await shell.execute("echo [$HOME]")).output,
    seesTools: (await shell.execute("printf data > made.txt")).exitCode,
    made: (await shell.read("/made.txt")).content,
  };
  await shell.close();
  const afterClose = { running: shell.isRunning };
  const slow = new LocalShellBackend({ rootDir, timeout: 1, inheritEnv: true });
  const late = await slow.execute("sleep 30");
  return { ...answers, afterClose, late: late.exitCode, twice: await outcome(() => shell.close()) };
}
