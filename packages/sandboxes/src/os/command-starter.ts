/**
 * A small shell of each sandbox, outside of it, that starts its commands.
 *
 * To start a process the system copies this one first, which takes as long as half a sandbox takes to be set up, and
 * longer the larger this one is; to enter a control group may take longer still. The shell is small, enters once, and
 * keeps one process ready that becomes the next command. It ends with all that it has started when its input ends,
 * which the system closes with us.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BegunCommand } from "deepwright/internal";
import { quoted } from "../quoted.ts";
import type { Owner } from "./lease/lease-directory.ts";
import { LIMITS_REPORT, REPORT, SetUpReport } from "./set-up-report.ts";
import { StarterShell } from "./starter-shell.ts";

export interface StarterRequest {
  /** Directory of the lease; a directory for the arguments of commands is made in it. */
  readonly directory: string;
  /** All variables of the started program. */
  readonly env: Readonly<Record<string, string>>;
  /** Owner of the processes; absent: this user. */
  readonly owner: Owner | undefined;
  /** A file that is read as descriptor 3. */
  readonly filter: string | undefined;
  /** Descriptors that are handed on from `FIRST_PLACE` on; they stay the caller's to close. */
  readonly descriptors: readonly number[];
  /** Empty input of commands. */
  readonly emptyDevice: string;
  /** Files of control groups to which 0 is written first. */
  readonly entrances: readonly string[];
  /** Words of a shell that become `"$@"`, with two descriptors for reports about the command. */
  readonly words: string;
}

export interface ReportedCommand {
  readonly begun: BegunCommand;
  /** The caller's to close. */
  readonly report: SetUpReport;
}

export class CommandStarter {
  readonly #request: StarterRequest;
  readonly #directory: string;
  /** The last one starts commands. Others could not go on, and have commands that run. */
  readonly #shells = new Set<StarterShell>();
  #current: StarterShell | undefined;
  #count = 0;

  constructor(request: StarterRequest) {
    this.#request = request;
    this.#directory = join(request.directory, "calls");
  }

  /**
   * Starts a command. `output` is the path of a pipe; the caller reads it, and holds it open for writing until this
   * resolves. If the shell was killed from outside, another shell starts the command.
   */
  async begin(args: readonly string[], output: string): Promise<ReportedCommand> {
    const shell = this.#usable();
    try {
      return await this.#beginIn(shell, args, output);
    } catch (error) {
      if (shell.isUsable) throw error;
      return this.#beginIn(this.#usable(), args, output);
    }
  }

  async #beginIn(shell: StarterShell, args: readonly string[], output: string): Promise<ReportedCommand> {
    this.#count += 1;
    const name = String(this.#count);
    const path = join(this.#directory, name);
    const words = `set -- ${[output, ...args].map(quoted).join(" ")}\n`;
    const report = new SetUpReport(path, words, this.#request.owner);
    try {
      return { begun: await shell.begin(name), report };
    } catch (error) {
      report.close();
      throw error;
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Resolves when nothing that it started is left. Safe twice. */
  async close(): Promise<void> {
    await Promise.all([...this.#shells].map((shell) => shell.close()));
  }

  #usable(): StarterShell {
    if (this.#current?.isUsable) return this.#current;
    const { owner, env, emptyDevice, descriptors } = this.#request;
    mkdirSync(this.#directory, { recursive: true, mode: 0o711 });
    const args = ["-c", script(this.#request), NAME, this.#directory];
    const shell = new StarterShell({ args, env, owner, emptyDevice, descriptors });
    this.#shells.add(shell);
    void shell.ended.then(() => this.#shells.delete(shell));
    this.#current = shell;
    return shell;
  }
}

/** Name of the shell in its own error messages. */
const NAME = "commands";

/**
 * Each line of its input asks for a process that waits ready. That process reads the name of a file from descriptor 3.
 * The file sets the path of its output and its words. It reports when the output and the file are open; if one cannot
 * be opened, nothing is started.
 */
function script({ entrances, words, emptyDevice, filter }: StarterRequest): string {
  const enter = entrances.map((path) => `echo 0 > ${quoted(path)} || exit\n`).join("");
  const input = `< ${quoted(emptyDevice)} 3< ${quoted(filter ?? emptyDevice)}`;
  return `cd "$1" || exit
${enter}while read -r _; do
  {
    {
      read -r deepwright_call <&3 && . "./$deepwright_call" || exit
      exec 3> "$1" ${REPORT}<> "./$deepwright_call" ${LIMITS_REPORT}>&${REPORT} || exit
      echo "started $deepwright_call"
      shift
      exec >&3 2>&3 ${input}
      ${words}
    } &
    echo "ready $!"
    wait "$!"
    echo "ended $! $?"
  } < /dev/null &
done
kill -9 0`;
}
