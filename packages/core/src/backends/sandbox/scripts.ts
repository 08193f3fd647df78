/**
 * The scripts that run inside a sandbox: constants, for any POSIX shell with the core utilities.
 *
 * Their values are arguments, never parts of their text. Each defines `main`, which writes the body of the
 * answer: `E` and a code when it failed, and a `.` as the last byte when it is complete.
 */

/** `$1` names the call, `$2` is how many bytes of the answer may be printed; the rest are values. */
export const PRELUDE = `
unset CDPATH
call=$1
decode() { value=$(printf '%bx' "$1"); value=\${value%x}; }
decode "$2"; inline=$value
shift 2
scratch=\${TMPDIR:-/tmp}
case $scratch in /*) ;; *) scratch=/tmp ;; esac
has() { command -v "$1" >/dev/null 2>&1; }
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
answer() {
  hold=$scratch/.deepwright-$call
  if ! mkdir -m 700 "$hold" 2>/dev/null; then
    reply
    return
  fi
  trap 'rm -rf "$hold"' EXIT
  trap 'exit 1' HUP INT TERM
  main >"$hold/answer" 2>/dev/null
  if [ "$(wc -c <"$hold/answer")" -le "$inline" ]; then frame data <"$hold/answer"
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
    case $above in */*) above=\${above%/*} ;; *) break ;; esac
    if [ -d "$above/" ]; then
      if [ -x "$above/" ]; then fail FILE_NOT_FOUND; else fail PERMISSION_DENIED; fi
      return
    fi
  done
  fail FILE_NOT_FOUND
}
`;

/** Values: path. Body: `F`, size and modification time of a file; `N` where there is no file. */
export const LOOK = `${PRELUDE}
decode "$1"; path=$value
main() {
  if [ -f "$path" ]; then printf 'F%s.' "$(stat -L -c '%s %Y' "$path")"
  elif [ -e "$path" ] && [ ! -d "$path" ]; then fail SPECIAL_FILE
  else printf N.
  fi
}
reply
`;

/** Values: path. Body: `R` and the content. */
export const CONTENT = `${PRELUDE}
decode "$1"; path=$value
main() {
  [ -f "$path" ] || { absent "$path"; return; }
  printf R
  cat <"$path" && printf .
}
answer
`;

/** Values: path. Body: `R` and the path after links; missing parts keep their names. */
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

/** Values: path. Body: `R`. A link is removed, not its target. */
export const DELETE = `${PRELUDE}
decode "$1"; path=$value
main() {
  exists "$path" || { absent "$path"; return; }
  why=$(rm -rf "$path" 2>&1)
  exists "$path" || { printf R.; return; }
  case $why in
    *': Permission denied' | *': Read-only file system' | *': Operation not permitted') fail PERMISSION_DENIED ;;
    *) fail UNAVAILABLE ;;
  esac
}
reply
`;

/** Values: the call with its answer in a file, first byte, number of bytes. Body: `R` and these bytes. */
export const PIECE = `${PRELUDE}
decode "$1"; held=$value
decode "$2"; from=$value
decode "$3"; count=$value
main() {
  printf R
  tail -c "+$((from + 1))" <"$scratch/.deepwright-$held/answer" | head -c "$count" && printf .
}
reply
`;

/** Values: a call with its answer in a file, or one that was ended from outside. Body: `R`. */
export const REMOVE = `${PRELUDE}
decode "$1"; held=$value
main() { rm -rf "$scratch/.deepwright-$held"; printf R.; }
reply
`;
