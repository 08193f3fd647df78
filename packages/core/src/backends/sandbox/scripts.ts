/**
 * The scripts that run inside a sandbox: constants, for any POSIX shell with the core utilities.
 *
 * Their values are arguments, never parts of their text. Each defines `main`, which writes the body of the
 * answer: `E` and a code when it failed, and a `.` as the last byte when all of it was written.
 */

import { MAX_WHOLE_BYTES } from "./limits.ts";

/**
 * `$1` names the call, `$2` is how many bytes of answer may be printed, `$3` whether to say which tools there are and
 * make the directory for uploads, `$4` which earlier answers that lie in files are done with; the rest are values.
 */
export const PRELUDE = `
unset CDPATH
call=$1
decode() { value=$(printf '%bx' "$1"); value=\${value%x}; }
decode "$2"; inline=$value
decode "$3"; makes=$value
decode "$4"; read=$value
shift 4
scratch=\${TMPDIR:-/tmp}
case $scratch in /*) ;; *) scratch=/tmp ;; esac
has() { command -v "$1" >/dev/null 2>&1; }
if [ -n "$makes" ]; then
  tools=''
  for tool in awk sha256sum gzip; do if has "$tool"; then tools=$tools.$tool; fi; done
  printf 'dw:%s:tools:%s\\n' "$call" "$tools"
fi
if [ -n "$makes" ] && mkdir -m 700 "$scratch/.deepwright-files-$call" 2>/dev/null; then
  case $scratch in
    *[!A-Za-z0-9/._-]*) where=$(printf '%s' "$scratch" | od -An -v -tx1 | tr -d ' \\n') ;;
    *) where=$scratch ;;
  esac
  printf 'dw:%s:made:%s\\n' "$call" "$where"
fi
for old in $read; do rm -rf "$scratch/.deepwright-$old"; done
frame() {
  if has base64; then
    printf 'dw:%s:64:%s\\n' "$call" "$1"
    base64
  else
    printf 'dw:%s:16:%s\\n' "$call" "$1"
    od -An -v -tx1
  fi
  printf '\\ndw:%s:end\\n' "$call"
}
reply() { main 2>/dev/null | frame data; }
packs() {
  has gzip && [ "$(wc -c <"$1")" -le $((inline * 16)) ] &&
    [ "$(gzip -c <"$1" 2>/dev/null | head -c $((inline + 1)) | wc -c)" -le "$inline" ]
}
answer() {
  hold=$scratch/.deepwright-$call
  if ! mkdir -m 700 "$hold" 2>/dev/null; then
    reply
    return
  fi
  trap 'rm -rf "$hold"' EXIT
  trap 'exit 1' HUP INT TERM
  main >"$hold/answer" 2>/dev/null
  if [ "$(wc -c <"$hold/answer")" -le "$inline" ]; then
    frame data <"$hold/answer"
  elif packs "$hold/answer"; then
    gzip -c <"$hold/answer" | frame pack
  else
    trap - EXIT
    printf '%s' "$hold" | frame file
  fi
}
fail() { printf 'E%s.' "$1"; }
exists() { [ -e "$1" ] || [ -L "$1" ]; }
absent() {
  above=$1
  while [ -n "$above" ]; do
    above=\${above%/*}
    if [ -d "$above/" ]; then
      if [ -x "$above/" ]; then fail FILE_NOT_FOUND; else fail PERMISSION_DENIED; fi
      return
    fi
  done
  fail FILE_NOT_FOUND
}
readable() {
  if [ -f "$1" ]; then
    [ -r "$1" ] && return 0
    fail PERMISSION_DENIED
  elif [ -d "$1" ]; then fail IS_DIRECTORY
  elif [ -e "$1" ]; then fail SPECIAL_FILE
  else absent "$1"
  fi
  return 1
}
failure() {
  case $1 in
    *': No space left on device' | *': Disk quota exceeded') fail STORAGE_FULL ;;
    *': Permission denied' | *': Read-only file system' | *': Operation not permitted') fail PERMISSION_DENIED ;;
    *': File name too long') fail INVALID_PATH ;;
    *) fail UNAVAILABLE ;;
  esac
}
`;

/**
 * Prints the file at `$path`. Body: `W` facts and the content, or `D` facts: to be downloaded, too long to be printed
 * even when packed. Facts: size, modification time.
 */
export const GIVE = `
give() {
  packed=''
  length=$(stat -L -c %s "$path" 2>/dev/null)
  if [ "\${length:-0}" -gt "$inline" ] && [ -f "$path" ] && [ -r "$path" ] && packs "$path"; then
    packed=yes
    print_whole 2>/dev/null | gzip -c | frame pack
  else print_whole 2>/dev/null | frame data
  fi
}
print_whole() {
  readable "$path" || return
  facts=$(stat -L -c '%s %Y' "$path") || { fail UNAVAILABLE; return; }
  if [ "\${facts%% *}" -gt "$inline" ] && [ -z "$packed" ]; then printf 'D%s\\n.' "$facts"; return; fi
  printf 'W%s\\n' "$facts"
  cat <"$path" && printf .
}
`;

/**
 * Values: path, offset, limit, bytes up to which the whole file is wanted, most bytes of a page.
 * Body: as in `GIVE`; `B` facts: binary; `N` facts: a lone `\r` was skipped or the page is not UTF-8 as far as that can
 * be told; or `P` facts, how many lines were skipped, whether the file ends with a line end, the first 4096 bytes, and
 * the page with one line more.
 */
export const READ = `${PRELUDE}${GIVE}
decode "$1"; path=$value
decode "$2"; offset=$value
decode "$3"; limit=$value
decode "$4"; whole=$value
decode "$5"; most=$value
skipped() { head -n "$offset" <"$path"; }
main() {
  readable "$path" || return
  facts=$(stat -L -c '%s %Y' "$path") || { fail UNAVAILABLE; return; }
  if [ "$(head -c 8192 <"$path" | tr -dc '\\000' | wc -c)" -gt 0 ]; then printf 'B%s\\n.' "$facts"; else page; fi
}
page() {
  returns=0 pairs=0 lines=0
  if [ "$offset" -gt 0 ]; then
    lines=$(skipped | wc -l)
    returns=$(skipped | tr -dc '\\r' | wc -c)
  fi
  if [ "$returns" -gt 0 ]; then
    pairs=$(skipped | tr '\\r\\n' '\\n\\r' | cut -b 1 | tr -dc '\\r' | wc -c)
    if [ "$(head -c 1 <"$path" | tr -dc '\\n' | wc -c)" -gt 0 ]; then pairs=$((pairs - 1)); fi
  fi
  if [ "$returns" -ne "$pairs" ] || ! in_utf8; then printf 'N%s\\n.' "$facts"; return; fi
  ended=$(tail -c 1 <"$path" | tr -dc '\\n' | wc -c)
  printf 'P%s %s %s\\n' "$facts" $lines $ended
  head -c 4096 <"$path"
  cut_page
  printf .
}
cut_page() { tail -n "+$((offset + 1))" <"$path" | head -n "$((limit + 1))" | head -c "$most"; }
in_utf8() {
  if [ "\${facts%% *}" -gt ${MAX_WHOLE_BYTES} ] || ! has iconv; then return 0; fi
  for size in 4096 4095 4094 4093 0; do
    if head -c $size <"$path" | iconv -f UTF-8 -t UTF-8 >/dev/null; then break; fi
  done
  [ $size -gt 0 ] || return 1
  [ "$(cut_page | wc -c)" -ge "$most" ] || cut_page | iconv -f UTF-8 -t UTF-8 >/dev/null
}
length=$(stat -L -c %s "$path" 2>/dev/null)
if [ "\${length:-0}" -gt "$whole" ]; then answer; else give; fi
`;

/** Values: path. Body: `R` and the path that links lead to; what does not exist yet keeps its name. */
export const REAL_PATH = `${PRELUDE}
decode "$1"; path=$value
main() {
  rest=''
  while [ -n "$path" ] && ! exists "$path"; do
    rest=/\${path##*/}$rest
    path=\${path%/*}
  done
  real=$(readlink -f "\${path:-/}" && printf x) || { fail FILE_NOT_FOUND; return; }
  real=\${real%?x}
  printf 'R%s%s.' "\${real%/}" "$rest"
}
reply
`;

/** Values: path. Body: `R`. A link goes, not what it leads to. */
export const DELETE = `${PRELUDE}
decode "$1"; path=$value
main() {
  exists "$path" || { absent "$path"; return; }
  why=$(rm -rf "$path" 2>&1)
  if exists "$path"; then failure "$why"; else printf R.; fi
}
reply
`;

/** Does nothing but what every script does. Body: `R`. */
export const NOTHING = `${PRELUDE}
main() { printf R.; }
reply
`;

/**
 * Values: the name of a call that was ended from outside, and what it was about: its answer, or a file that was not put
 * in its place, may still lie there. Body: `R`.
 */
export const SWEEP = `${PRELUDE}
decode "$1"; ended=$value
decode "$2"; path=$value
main() {
  rm -rf "$scratch/.deepwright-$ended"
  rm -f "\${path%/*}/.deepwright-$ended.part"
  if [ -L "$path" ]; then
    target=$(readlink -f "$path" && printf x) && target=\${target%?x} && rm -f "\${target%/*}/.deepwright-$ended.part"
  fi
  printf R.
}
reply
`;

/** Values: a path of ours. Body: `R`. */
export const DISCARD = `${PRELUDE}
decode "$1"; path=$value
main() { rm -rf "$path"; printf R.; }
reply
`;
