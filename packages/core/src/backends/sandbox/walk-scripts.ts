/**
 * The scripts that list and search directories of a sandbox.
 *
 * A walk needs `find`, a search also `grep`, of GNU or busybox. Links are never followed, and `.git`, `/proc`, `/sys` and
 * `/dev` are left out of a walk. Paths begin as the given one does: with `/`, or with `.` when it is relative.
 */
import { PRELUDE } from "./scripts.ts";

/**
 * `group` writes facts about some paths: `B` and their number, the paths, then one line of mode, size and modification
 * time each. `stat` says nothing about a path that is gone: when the numbers differ, each is asked alone. `$follow` is
 * `-L` to describe the targets of links; a link without a target is described itself.
 */
const GROUP = `
group() {
  facts=$(stat $follow -c '%f %s %Y' "$@")
  if [ "$(printf '%s\\n' "$facts" | wc -l)" -ne $# ]; then
    facts=$(for name do stat $follow -c '%f %s %Y' "$name" || stat -c '%f %s %Y' "$name" || echo -; done)
  fi
  printf 'B%s\\000' $#
  printf '%s\\000' "$@"
  printf '%s\\000' "$facts"
}
`;

const ENTER = `
enter() {
  if [ -d "$path" ]; then
    if [ -r "$path" ] && (cd "$path"); then return 0; fi
    fail PERMISSION_DENIED
  elif [ -e "$path" ]; then fail NOT_A_DIRECTORY
  else absent "$path"
  fi
  return 1
}
`;

/** Values: path. Body: `L` and groups. At most 500 names at once, so that no command line is too long. */
export const LIST = `${PRELUDE}${GROUP}${ENTER}
decode "$1"; path=$value
follow=-L places='' place=0
while [ $place -lt 500 ]; do place=$((place + 1)); places="$places \\"\\\${$place}\\""; done
every() {
  exists "$1" || return 0
  while [ $# -gt 500 ]; do eval "group $places"; shift 500; done
  group "$@"
}
main() {
  enter || return
  printf L
  cd "$path"
  for part in './*' './.[!.]*' './..?*'; do every $part; done
  printf .
}
answer
`;

/** The script that `find` runs on many paths at once. */
const RULES = `for file do
  [ -r "$file" ] || continue
  printf 'I%s\\000' "\${file%/.gitignore}"
  head -c 262144 <"$file" | tr -d '\\000'
  printf '\\000'
done`;
const CLOSED = `for file do
  if [ ! -r "$file" ] || { [ -d "$file" ] && [ ! -x "$file" ]; }; then printf 'S%s\\000' "$file"; fi
done`;
const SEARCH = `for file do if grep -q -e "$text" "$file"; then printf '%s\\000' "$file"; fi; done`;

/**
 * Values: path; basic regular expressions to look for, or nothing to list all files; the size in bytes over which a file
 * is not searched; whether the path may be a file.
 *
 * Body: `L`, then records that end with NUL. `A`: the path is a file, the one that follows. `Q`: files were searched, and
 * the groups that follow hold those that matched. `T` path of a file too large. `S` path of what cannot be read. `I`
 * directory, then the text of its ignore file; those of the directories above `path` too.
 */
export const WALK = `${PRELUDE}${GROUP}${ENTER}
decode "$1"; path=$value
decode "$2"; text=$value
decode "$3"; most=$value
decode "$4"; alone=$value
follow='' top=''
case $path in .*) if [ "$PWD" = / ]; then top=.; fi ;; esac
rules='${quoted(RULES)}' closed='${quoted(CLOSED)}' search='${quoted(SEARCH)}' groups='${quoted(`${GROUP}group "$@"`)}'
export text
main() {
  if [ -f "$path" ] && [ -n "$alone" ]; then
    [ -r "$path" ] || { fail PERMISSION_DENIED; return; }
    printf 'LA\\000'
    follow=-L
    group "$path"
    printf .
    return
  fi
  enter || return
  has find || { fail 'find is missing'; return; }
  printf L
  above "$path"
  pruned -name .gitignore -type f -exec sh -c "$rules" sh '{}' +
  pruned -type d -exec sh -c "$closed" sh '{}' +
  [ -z "$text" ] || pruned -type f -exec sh -c "$closed" sh '{}' +
  if [ -z "$text" ] || ! has grep; then pruned -type f -exec sh -c "$groups" sh '{}' +
  else
    printf 'Q\\000'
    pruned -type f -size "+\${most}c" -exec printf 'T%s\\000' '{}' +
    found | xargs -0 sh -c '[ $# = 0 ] || { '"$groups"'
}' sh
  fi
  printf .
}
above() {
  case $1 in '' | .) return 0 ;; esac
  above "\${1%/*}"
  sh -c "$rules" sh "\${1%/*}/.gitignore"
}
pruned() {
  find -H "$path" -mindepth 1 -type d '(' -name .git -o -path "$top/proc" -o -path "$top/sys" \\
    -o -path "$top/dev" -o -path "$top$hold" ')' -prune -o "$@"
}
found() {
  if printf 'a\\n' | grep -lZ -e a >/dev/null; then
    pruned -type f ! -size "+\${most}c" -exec grep -lZ -e "$text" '{}' +
  else pruned -type f ! -size "+\${most}c" -exec sh -c "$search" sh '{}' +
  fi
}
answer
`;

/** Inside single quotes of a shell. */
function quoted(script: string): string {
  return script.replaceAll("'", "'\\''");
}
