/**
 * A small shell that outlives this process by a moment: when it is killed, the placeholders it left are removed.
 *
 * It waits for the end of its input, which the system closes with us. What it removes is what is written down, where
 * nobody else who is alive needs it, and only what is as it was made.
 */
import { type ChildProcess, spawn } from "node:child_process";

const SCRIPT = `root=$1 notes=$2 own=$3 made=$4
read -r _
[ -f "$notes/$made" ] || exit 0
tries=0
until mkdir "$notes/lock" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -gt 30 ] && break
  sleep 0.1
done
rm -f "$notes/$own"
for note in "$notes"/[0-9]*.[0-9]*; do
  name=\${note##*/}
  if [ -d "/proc/\${name%%.*}" ]; then rmdir "$notes/lock"; exit 0; fi
done
cd "$root" && while IFS= read -r path; do
  rmdir -- "./$path" 2>/dev/null && continue
  if [ -L "./$path" ] || ! [ -f "./$path" ]; then continue; fi
  case "\${path##*/}=$(cat -- "./$path")" in
    commondir=. | config.worktree=) rm -f -- "./$path" ;;
  esac
done < "$notes/$made"
rm -f "$notes/$made"
rmdir "$notes/lock" "$notes" 2>/dev/null`;

export interface WatchRequest {
  readonly rootDir: string;
  /** Where it is written down who is there, and what was made. */
  readonly notes: string;
  /** Our own note. */
  readonly own: string;
  /** The list of paths, one a line, the deepest first. */
  readonly made: string;
}

/** Does not keep this process alive. The returned function ends it. */
export function watchPlaceholders({ rootDir, notes, own, made }: WatchRequest): () => void {
  const child: ChildProcess = spawn("/bin/sh", ["-c", SCRIPT, "placeholders", rootDir, notes, own, made], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without it the next sandbox tidies up.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
  // At once: told by the end of its input, it could take the placeholders of the next command for what we left.
  return () => void child.kill("SIGKILL");
}
