/**
 * The scripts that run inside a container: constants, for any `/bin/sh` with the core utilities, GNU or busybox.
 *
 * Their values are arguments, never parts of their text. The parts that end processes use builtins alone, because they
 * are needed most when no process can be started.
 */

/** Where the keeper notes that the container is in use: only root of the container can write there. */
export const KEEPER_DIRECTORY = "/run/deepwright";

/** The variable that marks the processes of a call. */
export const CALL_VARIABLE = "DEEPWRIGHT_CALL";

/**
 * The first process of a container. It ends the container after `$1` seconds without a sign of use. It looks every `$2`
 * seconds, and reaps processes that others leave behind.
 */
export const KEEPER = `
exec </dev/null >/dev/null 2>&1
alive=${KEEPER_DIRECTORY}/alive
echo >"$alive"
while :; do
  sleep "$2" || sleep 1 || exit 1
  now=$(date +%s)
  seen=$(stat -c %Y "$alive")
  [ "$((now - seen))" -lt "$1" ] || exit 0
done
`;

export const KEEP_ALIVE = `echo >${KEEPER_DIRECTORY}/alive`;

/**
 * `search` sets `found` to the processes of the call `$call`: those with its mark, their descendants and, if `$strays`
 * is 1, processes without a mark that were left to the first process. `end_found` stops all of them before it kills
 * them, so that none starts another.
 */
const SEARCH = `
uid_of() {
  state= parent= uid=
  while read -r key value rest; do
    case $key in
      State:) state=$value ;;
      PPid:) parent=$value ;;
      Uid:) uid=$value; return ;;
    esac
  done <"/proc/$1/status"
}
mark_of() {
  mark=none
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      *"$call"*) mark=ours; return ;;
      *${CALL_VARIABLE}=*) mark=other; return ;;
      *) mark=without ;;
    esac
  done <"/proc/$1/environ"
}
uid_of self
me=$uid
search() {
  found= others=
  for entry in /proc/[0-9]*; do
    pid=\${entry#/proc/}
    [ "$pid" != 1 ] && [ "$pid" != "$$" ] || continue
    uid_of "$pid"
    [ "$uid" = "$me" ] || continue
    case $state in Z* | X*) continue ;; esac
    mark_of "$pid"
    [ "$mark" != none ] || mark_of "$pid"
    if [ "$mark" = ours ]; then found="$found $pid"
    elif [ "$strays" = 1 ] && [ "$parent" = 1 ] && [ "$mark" != other ]; then found="$found $pid"
    else others="$others $pid:$parent"
    fi
  done
  grown=1
  while [ -n "$grown" ]; do
    grown= rest_of=
    for other in $others; do
      case " $found " in
        *" \${other#*:} "*) found="$found \${other%:*}" grown=1 ;;
        *) rest_of="$rest_of $other" ;;
      esac
    done
    others=$rest_of
  done
}
end_found() {
  held= round=0
  while [ "$round" -lt 50 ]; do
    round=$((round + 1)) fresh=
    search
    for pid in $found; do
      case " $held " in *" $pid "*) continue ;; esac
      kill -STOP "$pid"
      held="$held $pid" fresh=1
    done
    [ -n "$fresh" ] || break
  done
  round=0
  while [ -n "$found" ] && [ "$round" -lt 200 ]; do
    round=$((round + 1))
    for pid in $found; do kill -KILL "$pid"; done
    search
  done
  [ -z "$found" ]
}
`;

/**
 * Runs a command: `$1` call, `$2` whether strays are ended, `$3` most bytes of a file in units of 512 or 0, `$4` the
 * command. Both streams are one, input is empty. Processes that still run half a second after its shell are ended. When
 * memory runs out, the system ends processes of commands before the first process of the container.
 */
export const RUN = `
exec 3>&1 2>/dev/null </dev/null
echo 100 >/proc/self/oom_score_adj
call=$1 strays=$2
${SEARCH}
ulimit -c 0
[ "$3" = 0 ] || ulimit -f "$3"
shell=/bin/sh
for each in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
  if [ -x "$each" ]; then shell=$each; break; fi
done
code=1
trap 'end_found; exit "$code"' EXIT
trap : HUP INT QUIT TERM
"$shell" -c "$4" >&3 2>&3 3>&-
code=$?
tries=0
search
while [ -n "$found" ] && [ "$tries" -lt 5 ]; do
  tries=$((tries + 1))
  sleep 0.1
  search
done
exit "$code"
`;

/** Ends all of a call: `$1` call, `$2` whether strays too. 0: nothing is left. */
export const STOP = `
exec 2>/dev/null </dev/null
call=$1 strays=$2
${SEARCH}
end_found
`;

/**
 * Stores `$2` bytes of the input as the file `$1`; `$3` makes the name of the part unique. Prints `ok` or why not, when all
 * of the input was taken. The file is written beside its place and renamed, so a full disk or an abort leaves the old one.
 * Where that is not possible (a directory that cannot be written to, a file that is mounted) it is written in place.
 */
export const UPLOAD = `
exec 2>/dev/null
path=$1 size=$2 parent=\${1%/*}/
refuse() {
  head -c "$size" >/dev/null
  echo "$1"
  exit
}
if [ -d "$path" ]; then refuse is_directory; fi
if [ -e "$path" ] && { [ ! -f "$path" ] || [ ! -w "$path" ]; }; then refuse permission_denied; fi
why=$(mkdir -p "$parent" 2>&1) || {
  above=$path
  while [ -n "$above" ]; do
    above=\${above%/*}
    if [ -n "$above" ] && [ -e "$above" ] && [ ! -d "$above" ]; then refuse parent_not_found; fi
  done
  case $why in *'File name too long'*) refuse invalid_path ;; *) refuse permission_denied ;; esac
}
fresh=1
if [ -e "$path" ]; then fresh=; fi
why=$( { : >>"$path"; } 2>&1 ) || case $why in
  *'ame too long'*) refuse invalid_path ;;
  *) refuse permission_denied ;;
esac
target=$path
if [ -L "$path" ]; then target=$(readlink -f "$path"; echo .) target=\${target%?.}; fi
part=\${target%/*}/.deepwright-$3.part
stored() {
  if [ "$(wc -c <"$1")" -eq "$size" ]; then return; fi
  echo 'there is no room for it'
  exit
}
trap 'rm -f "$part"; [ -z "$fresh" ] || rm -f "$path"' EXIT
trap 'exit 1' HUP INT TERM
if (: >"$part"); then
  head -c "$size" >"$part"
  stored "$part"
  owner=$(stat -c %u:%g "$target")
  [ "$owner" = "$(stat -c %u:%g "$part")" ] || chown "$owner" "$part"
  chmod "$(stat -c %a "$target")" "$part"
  mv -f "$part" "$target" || cat <"$part" >"$target"
else head -c "$size" >"$target"
fi
stored "$target"
fresh=
echo ok
`;

const READABLE = `
exec 2>/dev/null </dev/null
refusal() {
  if [ -d "$1" ]; then echo is_directory
  elif [ -f "$1" ] && [ -r "$1" ]; then return 1
  elif [ -e "$1" ]; then echo permission_denied
  else absent "$1"
  fi
}
absent() {
  above=$1
  while [ -n "$above" ]; do
    above=\${above%/*}
    if [ -d "$above/" ]; then
      if [ -x "$above/" ]; then echo file_not_found; else echo permission_denied; fi
      return
    fi
  done
  echo file_not_found
}
`;

/** Prints the bytes of the file `$1`, or, with exit code 3, why not. */
export const DOWNLOAD = `${READABLE}
if refusal "$1"; then exit 3; fi
exec cat <"$1"
`;

/**
 * For every argument a line `64` or `16`, its bytes in that encoding, and a line with a dot; or a line with the reason
 * why not.
 */
export const DOWNLOAD_MANY = `${READABLE}
for path; do
  if refusal "$path"; then continue; fi
  if command -v base64 >/dev/null; then echo 64; base64 <"$path"; else echo 16; od -An -v -tx1 <"$path"; fi
  echo .
done
`;
