/**
 * Files through commands: contents and names are never part of a command's code.
 *
 * Values are arguments in base64, and so is the answer, between two lines with a number made for this call.
 */
import type { TransferFailure } from "../remote/remote-sandbox.ts";

const PLAIN = `
exec 2>/dev/null </dev/null
plain() { [ "$1" = "=" ] || printf %s "$1" | base64 -d; }
p=$(plain "$2"; echo .) p=\${p%.}
say() { printf "\\ndw:%s:%s\\n" "$mark" "$1"; }
mark=$1
`;

/** `$1` mark, `$2` path, `$3` `more` or `last`, `$4` the next bytes. Nothing is at the path before the last came. */
export const PUT = `${PLAIN}
d=\${TMPDIR:-/tmp}/.deepwright-put-$mark
umask 077
[ -d "$d" ] || mkdir "$d" || { say unclear; exit; }
plain "$4" >>"$d/part" || { rm -rf "$d"; say unclear; exit; }
if [ "$(plain "$3")" = more ]; then say ok; exit; fi
umask 022
put() {
  if [ -d "$p" ]; then say is_directory
  elif [ -e "$p" ] && [ ! -f "$p" ]; then say permission_denied
  elif cat <"$d/part" >"$p"; then say ok
  else say unclear
  fi
}
put
rm -rf "$d"
`;

/** `$1` mark, `$2` path, `$3` from which byte, `$4` how many at most. */
export const GET = `${PLAIN}
if [ -d "$p" ]; then say is_directory; exit; fi
if [ ! -f "$p" ] || [ ! -r "$p" ]; then say unclear; exit; fi
say "data:$(($(wc -c <"$p")))"
tail -c "+$(($(plain "$3") + 1))" <"$p" | head -c "$(plain "$4")" | base64
printf "dw:%s:end\\n" "$mark"
`;

/** Bytes of one argument before they are encoded; the rest of the line has room beside it. */
const PART_BYTES = 84 * 1024;

/** At least one. */
export function partsOf(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += PART_BYTES)
    parts.push(bytes.subarray(at, at + PART_BYTES));
  return parts;
}

export function scriptLine(
  script: string,
  mark: string,
  values: readonly (string | number | Uint8Array)[],
): string {
  const words = values.map((value) =>
    Buffer.from(typeof value === "number" ? String(value) : (value as string)).toString("base64"),
  );
  return `sh -c '${script.trim()}' dw ${[mark, ...words].map((word) => word || "=").join(" ")}`;
}

/** The words behind the mark; an answer without a mark is unclear. */
export function readPut(output: string, mark: string): "ok" | TransferFailure {
  const said = new RegExp(`dw:${mark}:(\\w+)`).exec(output)?.[1];
  return (said ?? "unclear") as "ok" | TransferFailure;
}

/** `cut`: the end is missing. */
export function readGet(
  output: string,
  mark: string,
): { readonly size: number; readonly bytes: Uint8Array } | TransferFailure | "cut" {
  const start = new RegExp(`dw:${mark}:(\\w+)(?::(\\d+))?\\r?\\n`).exec(output);
  if (start === null) return "cut";
  if (start[1] !== "data") return start[1] as TransferFailure;
  const from = start.index + start[0].length;
  const end = output.indexOf(`dw:${mark}:end`, from);
  if (end === -1) return "cut";
  const digits = output.slice(from, end).replace(/\s+/g, "");
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return "cut";
  return { size: Number(start[2]), bytes: Buffer.from(digits, "base64") };
}
