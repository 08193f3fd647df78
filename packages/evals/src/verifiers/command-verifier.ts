/** A verifier that runs a command on the final files, in a sandbox. */
import { quoted } from "./file-verifiers.ts";
import { failed, PASSED, type Verifier } from "./verifier.ts";

export interface CommandExpectation {
  /** Default 0. */
  readonly exitCode?: number;
  /** Text that must stand in the output. */
  readonly output?: string;
}

/** The command ends with this code. Its working directory has the final files: `/a.js` is `./a.js`. */
export function commandExits(command: string, expected: CommandExpectation = {}): Verifier {
  const { exitCode = 0, output } = expected;
  return {
    name: `\`${command}\` exits with ${exitCode}`,
    check: async ({ files }, { runCommand }) => {
      const end = await runCommand(command, files);
      if (end.exitCode !== exitCode)
        return failed(`the command exited with ${end.exitCode}: ${quoted(end.output)}`);
      return output === undefined || end.output.includes(output)
        ? PASSED
        : failed(`the output does not contain ${quoted(output)}: ${quoted(end.output)}`);
    },
  };
}
