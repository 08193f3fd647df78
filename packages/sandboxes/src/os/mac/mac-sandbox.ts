/** Sets a sandbox up on macOS. Paths are those of the machine, and memory and processes are bounded by nobody. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "deepwright";
import { isProgram } from "../find-program.ts";
import { limitWords } from "../limit-words.ts";
import { ALTERNATIVES, sandboxEnvironment } from "../policy.ts";
import type { PreparedSandbox, SetUpRequest } from "../sandbox-set-up.ts";
import { seatbeltProfile } from "./seatbelt.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const MAC_PATH = "/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

export function prepareMacSandbox(request: SetUpRequest): PreparedSandbox {
  const { settings, lease, workspace, network } = request;
  if (network !== undefined || !isProgram(SANDBOX_EXEC))
    throw new SandboxError(
      `The os sandbox cannot be used here: ${network ? "on macOS it has no egress" : "there is no sandbox-exec"}. Use ${ALTERNATIVES}.`,
      "SANDBOX_UNAVAILABLE",
    );
  const policy = { ...settings, workspace, temporary: lease.temporary };
  const words = limitWords(settings.limits, { countsProcesses: false, before: ['cd "$1"', "shift"] });
  const home = { PATH: MAC_PATH, HOME: join(lease.temporary, ".home"), TMPDIR: lease.temporary };
  return {
    skeleton: lease.temporary,
    hasFilter: false,
    commandSettings: {
      lease,
      workspace,
      isThere: () => existsSync(workspace),
      env: sandboxEnvironment(home, settings.env, request.env),
      emptyDevice: "/dev/null",
      timeout: settings.timeout,
      maxOutputBytes: settings.maxOutputBytes,
      enter: (_, closed) => {
        const hidden = [...policy.hidden, ...closed.hidden];
        const readOnly = [...policy.readOnly, ...closed.readOnly];
        const profile = seatbeltProfile({ ...policy, hidden, readOnly });
        return {
          launch: (shell) => ({
            program: SANDBOX_EXEC,
            args: ["-p", profile, "/bin/sh", "-c", words, "sh", workspace, ...shell],
          }),
          leave: () => {},
        };
      },
    },
    close: async () => {},
  };
}
