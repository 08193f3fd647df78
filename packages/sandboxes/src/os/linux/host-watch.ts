/**
 * A small shell that outlives this process by a moment, and ends the sandboxes it left.
 *
 * They end with their parent, but `bwrap` asks for that a moment after it was started: one whose parent was killed just
 * then would go on for ever. The shell waits for the end of its input, which the system closes with us.
 */
import { startProgram } from "deepwright/internal";
import { ownProcess } from "../lease/live-process.ts";

const SCRIPT = `read -r _
quiet=0
while [ "$quiet" -lt 3 ]; do
  quiet=$((quiet + 1))
  for file in $(grep -lF -e "$MARK" /proc/[0-9]*/cmdline 2>/dev/null); do
    pid=\${file#/proc/}
    kill -9 "\${pid%/cmdline}" 2>/dev/null && quiet=0
  done
  sleep 0.1
done`;

/** Words for `bwrap` that change nothing, by which its processes are known as ours. */
export function hostMark(): [string, string] {
  return ["--unsetenv", `deepwright-host-${ownProcess()}`];
}

let isWatched = false;

/** Once for a process, which it does not keep alive. */
export function watchHost(): void {
  if (isWatched) return;
  isWatched = true;
  const child = startProgram("/bin/sh", ["-c", SCRIPT, "sandboxes"], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", MARK: hostMark()[1] },
    stdio: ["pipe", "ignore", "ignore"],
    group: "own",
  });
  // Without it they end with their parent all the same, but for that moment.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void }).unref?.();
}
