/** Commands must not outlive the process that started them. */
import { type CommandProcess, killCommand } from "./process-tree.ts";

const running = new Set<CommandProcess>();
const DEADLY: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];
let exitIsWatched = false;

/** Until the returned function is called, the command ends with this process. */
export function endWithThisProcess(command: CommandProcess): () => void {
  if (!exitIsWatched) process.on("exit", killAll);
  exitIsWatched = true;
  if (running.size === 0) for (const signal of DEADLY) process.on(signal, dieOf);
  running.add(command);
  return () => {
    if (running.delete(command) && running.size === 0)
      for (const signal of DEADLY) process.removeListener(signal, dieOf);
  };
}

/** A program with a listener of its own decides itself; without one, the signal ends it as if we had none. */
function dieOf(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.removeListener(signal, dieOf);
  process.kill(process.pid, signal);
}

function killAll(): void {
  for (const command of running) killCommand(command);
}
