/**
 * The script that a remote sandbox runs in place of a command, and how its answer is read.
 *
 * The scripts have no single quote and their values are letters, digits and `+/=._-` alone, so that the line means
 * the same to a shell and to a service that splits words itself. Needed in the sandbox: a POSIX shell and the core
 * utilities; with `setsid` and `grep` less can escape and less is done.
 *
 * A command gets a session of its own and a mark in its environment. Its output goes through a pipe that keeps the
 * beginning and the end; so a flood takes no room, and what is left in the background holds nothing up. A watch
 * inside ends it when its time is up, whatever the service makes of time-outs. The answer is base64 between two
 * lines with the mark, six lines in all: nothing a service adds, trims, decodes or leaves out by lines can change it.
 */
import { SandboxError } from "deepwright";
import { quoted } from "../quoted.ts";
import { cutOutput, wholeOutput } from "./remote-output.ts";

export interface ScriptOptions {
  /** Hexadecimal, new for every call. */
  readonly mark: string;
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Kept of the output: half from its beginning, half from its end. */
  readonly maxOutputBytes: number;
}

export interface ScriptAnswer {
  readonly output: string;
  readonly exitCode: number;
  readonly truncated: boolean;
}

/** Linux takes so much as one argument of a program. */
export const MAX_LINE_BYTES = 128 * 1024 - 1;

/** Ends the processes with the mark `$m`, and the session of `$c`. */
const SWEEP = `
sweep() {
  [ -z "$c" ] || kill -KILL -- "-$c" "$c"
  for i in 1 2 3 4 5; do
    found=
    if command -v grep; then
      marked=$(grep -lsaF "DEEPWRIGHT_CALL=$m" /proc/[0-9]*/environ)
    else
      marked=$(for f in /proc/[0-9]*/environ; do
        case $(tr "\\\\000" "\\\\n" <"$f") in *"DEEPWRIGHT_CALL=$m"*) echo "$f" ;; esac
      done)
    fi
    for f in $marked; do f=\${f#/proc/}; kill -KILL "\${f%/environ}" && found=1; done
    [ -n "$found" ] || break
  done
} >/dev/null 2>&1
`;

/** `$1` mark, `$2` seconds, `$3` bytes of each half, `$4` directory, `$5` variables, `$6` command; the last three in base64. */
const RUN = `
exec 3>&1 >/dev/null 2>&1 </dev/null
m=$1 seconds=$2 n=$3 c= late=0
d=\${TMPDIR:-/tmp}/.deepwright-$m
if ! (umask 077; mkdir "$d"); then
  if [ -e "$d/stop" ]; then rm -rf "$d"
  elif [ -d "$d" ]; then printf "\\ndw:%s:twice\\n" "$m" >&3
  else printf "\\ndw:%s:no-room\\n" "$m" >&3; fi
  exit 1
fi
${SWEEP}
trap "sweep; rm -rf \\"\\$d\\"; exit 1" HUP INT TERM
plain() { printf %s "$1" | base64 -d; }
directory=$(plain "$4"; echo .) directory=\${directory%.}
text=$(plain "$6"; echo .) text=\${text%.}
cd "$directory" || { mkdir -p "$directory" && cd "$directory"; } || {
  printf "\\ndw:%s:no-directory\\n" "$m" >&3
  rm -rf "$d"
  exit 1
}
shell=$(command -v bash || command -v sh)
leader=$(command -v setsid)
eval "set -- $(plain "$5")"
mkfifo "$d/in" "$d/out" "$d/clock"
cat <"$d/in" >"$d/out" 3>&- &
k=$!
{
  dd bs="$n" count=1 iflag=fullblock of="$d/head" || head -c "$n" >"$d/head"
  tail -c "$((n + 1))" >"$d/tail"
  : >"$d/read"
} <"$d/out" 3>&- &
r=$!
(exec env "DEEPWRIGHT_CALL=$m" "$@" $leader "$shell" -c "$text" >"$d/in" 2>&1 3>&-) &
c=$!
sleep "$seconds" >"$d/clock" 3>&- &
s=$!
(
  exec 3>&-
  trap - HUP INT TERM
  read -r x <"$d/clock"
  [ -d "$d" ] && [ ! -e "$d/over" ] || exit 0
  : >"$d/late"
  kill -TERM -- "-$c" "$c"
  sleep 0.5
  [ -d "$d" ] && sweep
) &
w=$!
echo "$c" >"$d/pid" || sweep
[ -e "$d/stop" ] && sweep
wait "$c"
x=$?
: >"$d/over"
kill -KILL "$s" "$w"
sweep
until_read() {
  i=0
  while [ ! -e "$d/read" ] && [ "$i" -lt "$1" ]; do
    if [ "$i" -lt 5 ]; then sleep 0.01; else sleep 0.1; fi
    i=$((i + 1))
  done
}
until_read 20
kill "$k"
until_read 10
kill -KILL "$r"
[ -e "$d/late" ] && late=1
{
  printf "\\ndw:%s:head\\n" "$m"
  base64 <"$d/head" | tr -d "\\\\n"
  if [ -s "$d/tail" ]; then
    printf "\\ndw:%s:tail\\n" "$m"
    base64 <"$d/tail" | tr -d "\\\\n"
  fi
  printf "\\ndw:%s:end:%s:%s\\n" "$m" "$x" "$late"
} >&3
rm -rf "$d"
`;

/**
 * `$1` is the mark of a command. A command that has not begun finds its mark taken, and does not begin. For a finished
 * command an empty file remains.
 */
const STOP = `
exec >/dev/null 2>&1 </dev/null
m=$1 c=
d=\${TMPDIR:-/tmp}/.deepwright-$m
if (umask 077; mkdir "$d"); then : >"$d/stop"; exit 0; fi
${SWEEP}
: >"$d/stop"
[ -e "$d/pid" ] && c=$(cat "$d/pid")
sweep
rm -rf "$d"
`;

/** The line that runs `command`; throws `INVALID_COMMAND` where it would be too long. */
export function runLine(command: string, options: ScriptOptions): string {
  const { mark, timeoutSeconds, maxOutputBytes, workingDirectory, env } = options;
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  // A shell reads a command that begins with `-` or `+` as its own option.
  const text = /^[-+]/.test(command) ? ` ${command}` : command;
  const values = [
    mark,
    timeoutSeconds,
    Math.max(1, Math.floor(maxOutputBytes / 2)),
    encode(workingDirectory),
    encode(`${variables.join(" ")} `),
    encode(text),
  ];
  const line = lineOf(RUN, values);
  if (line.length > MAX_LINE_BYTES)
    throw new SandboxError(
      `The command has ${Buffer.byteLength(command)} bytes, which is more than can be sent: write it to a file and run that.`,
      "INVALID_COMMAND",
    );
  return line;
}

/** The line that ends the command with this mark, also when it comes first. */
export function stopLine(mark: string): string {
  return lineOf(STOP, [mark]);
}

/** Undefined when there is no answer in it. Throws a `SandboxError` when the command could not be started. */
export function answerOf(output: string, mark: string, maxOutputBytes: number): ScriptAnswer | undefined {
  const refusal = new RegExp(`dw:${mark}:(no-room|no-directory|twice)`).exec(output);
  if (refusal !== null) throw notStarted(refusal[1] as string);
  const found = new RegExp(
    `dw:${mark}:head\\r?\\n([\\w+/=\\s]*?)(?:dw:${mark}:tail\\r?\\n([\\w+/=\\s]*?))?dw:${mark}:end:(\\d+):([01])`,
  ).exec(output);
  if (found === null) return undefined;
  const half = Math.max(1, Math.floor(maxOutputBytes / 2));
  const head = Buffer.from(found[1] ?? "", "base64");
  const tail = Buffer.from(found[2] ?? "", "base64");
  const exitCode = found[4] === "1" ? 124 : Number(found[3]);
  if (tail.length <= half)
    return { output: wholeOutput(Buffer.concat([head, tail])), exitCode, truncated: false };
  return { output: cutOutput(head, tail.subarray(-half)), exitCode, truncated: true };
}

const REFUSALS: Readonly<Record<string, string>> = {
  "no-room": "the sandbox has no directory for temporary files that can be written to",
  "no-directory": "the working directory is not there and cannot be made",
  twice: "the service delivered it a second time while it ran",
};

function notStarted(reason: string): SandboxError {
  return new SandboxError(`The command was not run: ${REFUSALS[reason]}.`, "COMMAND_FAILED");
}

function lineOf(script: string, values: readonly (string | number)[]): string {
  return `sh -c '${script.trim()}' dw ${values.join(" ")}`;
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
