import type {
  BackendProtocol,
  BackendRuntime,
  ExecuteOptions,
  ExecuteResponse,
  SandboxBackendProtocol,
} from "deepwright";
import { recordedCommand, withMembers } from "deepwright/internal";
import type { Commands } from "./commands.ts";

/**
 * Files as `files` has them, and commands where `commands` runs them; both see one directory. In a run each command is
 * noted with the thread before it runs.
 */
export function withCommands(
  files: BackendProtocol,
  commands: Pick<Commands, "id" | "execute" | "note">,
  directory: string,
): SandboxBackendProtocol {
  const bound = (inner: BackendProtocol, runtime: BackendRuntime | undefined): SandboxBackendProtocol => {
    const added = {
      id: commands.id,
      commandNote: commands.note,
      execute: (command: string, options?: ExecuteOptions): Promise<ExecuteResponse> => {
        const run = () => commands.execute(command, options);
        return runtime ? recordedCommand(command, directory, runtime, run, options) : run();
      },
      withRuntime: async (now: BackendRuntime) => bound(await inRun(files, now), now),
    };
    return withMembers(inner, added) as SandboxBackendProtocol;
  };
  return bound(files, undefined);
}

async function inRun(files: BackendProtocol, runtime: BackendRuntime): Promise<BackendProtocol> {
  const { withRuntime } = files as { withRuntime?: (runtime: BackendRuntime) => unknown };
  return withRuntime === undefined ? files : ((await withRuntime.call(files, runtime)) as BackendProtocol);
}
