/**
 * The scripts that list and search directories of a sandbox.
 *
 * GNU `find` and `grep` do the work where they are there; elsewhere the shell walks with patterns of its
 * own, and finds the same. Links are never followed, and what is under `.git`, `/proc`, `/sys` and `/dev`
 * is left out of a walk. Paths begin as the given one does: with `/`, or with `.` when it is relative.
 */
import { PRELUDE } from "./scripts.ts";

/**
 * `group` writes what is known about names in the current directory: `B` and their number, the names, then
 * one line of mode, size and modification time each. `stat` says nothing about what is gone by then: where
 * the numbers differ, each is asked alone. At most 500 at once, so that no command line is too long.
 */
const GROUPS = `
places='' place=0
while [ $place -lt 500 ]; do place=$((place + 1)); places="$places \\"\\\${$place}\\""; done
every() {
  exists "$1" || return 0
  while [ $# -gt 500 ]; do eval "group $places"; shift 500; done
  group "$@"
}
group() {
  facts=$(stat -c '%f %s %Y' "$@")
  if [ "$(printf '%s\\n' "$facts" | wc -l)" -ne $# ]; then
    facts=$(for name do stat -c '%f %s %Y' "$name" || echo -; done)
  fi
  printf 'B%s\\000' $#
  printf '%s\\000' "$@"
  printf '%s\\000' "$facts"
}
entries() { for part in './*' './.[!.]*' './..?*'; do every $part; done; }
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

/** Values: path. Body: `L`, groups, and for each link `K` and its name, then the facts of what it leads to. */
export const LIST = `${PRELUDE}${GROUPS}
decode "$1"; path=$value
main() {
  enter || return
  printf L
  cd "$path"
  entries
  for name in ./* ./.[!.]* ./..?*; do
    if [ -L "$name" ]; then
      printf 'K%s\\000%s\\000' "$name" "$(stat -L -c '%f %s %Y' "$name" || echo -)"
    fi
  done
  printf .
}
answer
`;

/**
 * Values: path; what to look for, a list of basic regular expressions, or nothing to list all files; the size
 * in bytes over which a file is not searched; whether the path may be a file.
 *
 * Body: `L`, then records that end with NUL. `A`: the path is a file, the one that follows. `Q`: files were
 * searched, and each that holds one of them comes as `F`, or as its path, which begins with `/` or `.`. `C` directory: the
 * groups that follow lie in it. `F` size, time and path of a file. `T` path of one too large. `S` path of what cannot be
 * read. `I` directory, then the text of its ignore file; those of the directories above `path` too.
 */
export const WALK = `${PRELUDE}${GROUPS}
decode "$1"; path=$value
decode "$2"; text=$value
decode "$3"; most=$value
decode "$4"; alone=$value
top=''
case $path in .*) if [ "$PWD" = / ]; then top=.; fi ;; esac
finds() { has find && [ "$(find / -maxdepth 0 -readable -printf x)" = x ]; }
measures() { has xargs && [ "$(printf '/\\000' | xargs -0 stat --printf=%n)" = / ]; }
marks() { has grep && printf 'a\\n' | grep -lZ -e a >/dev/null; }
main() {
  if [ -f "$path" ] && [ -n "$alone" ]; then
    [ -r "$path" ] || { fail PERMISSION_DENIED; return; }
    printf 'LA\\000F%s %s\\000' "$(stat -L -c '%s %Y' "$path")" "$path"
    printf .
    return
  fi
  enter || return
  printf L
  above "$path"
  if finds && { [ -z "$text" ] || marks; }; then quickly
  else
    searched=''
    if [ -n "$text" ] && has grep; then searched=yes; printf 'Q\\000'; fi
    cd "$path" && walk "$path"
  fi
  printf .
}
above() {
  case $1 in '' | .) return 0 ;; esac
  above "\${1%/*}"
  rules "\${1%/*}" "\${1%/*}"
}
rules() {
  [ -f "$1/.gitignore" ] && [ -r "$1/.gitignore" ] || return 0
  printf 'I%s\\000' "$2"
  head -c 262144 <"$1/.gitignore" | tr -d '\\000'
  printf '\\000'
}
pruned() {
  find -H "$path" -mindepth 1 -type d '(' -name .git -o -path "$top/proc" -o -path "$top/sys" \\
    -o -path "$top/dev" -o -path "$top$hold" ')' -prune -o "$@"
}
quickly() {
  rules "$path" "$path"
  pruned -mindepth 2 -type f -name .gitignore -readable -exec sh -c '
    for file do
      printf "I%s\\000" "\${file%/.gitignore}"
      head -c 262144 <"$file" | tr -d "\\000"
      printf "\\000"
    done' sh '{}' +
  if [ -z "$text" ]; then
    pruned -type d ! '(' -readable -executable ')' -printf 'S%p\\000' -o -type f -printf 'F%s %T@ %p\\000'
    return
  fi
  printf 'Q\\000'
  pruned -type d ! '(' -readable -executable ')' -printf 'S%p\\000' \\
    -o -type f ! -readable -printf 'S%p\\000' -o -type f -size "+\${most}c" -printf 'T%p\\000'
  if measures && [ -d "$hold" ]; then
    found >"$hold/found"
    xargs -0 stat --printf='F%s %Y %n\\000' <"$hold/found"
  else found
  fi
}
found() { pruned -type f ! -size "+\${most}c" -exec grep -lZ -e "$text" '{}' +; }
walk() {
  rules . "$1"
  printf 'C%s\\000' "$1"
  entries
  for name in ./* ./.[!.]* ./..?*; do
    inner=\${1%/}/\${name#./}
    if [ -L "$name" ] || [ "$name" = ./.git ]; then continue
    elif [ -d "$name" ]; then
      case $inner in "$top/proc" | "$top/sys" | "$top/dev" | "$top$hold") continue ;; esac
      (if [ -r "$name" ] && cd "$name"; then walk "$inner"; else printf 'S%s\\000' "$inner"; fi)
    elif [ -n "$text" ] && [ -f "$name" ] && [ ! -r "$name" ]; then printf 'S%s\\000' "$inner"
    elif [ -n "$searched" ] && [ -f "$name" ] && grep -q -e "$text" "$name"; then printf '%s\\000' "$inner"
    fi
  done
}
answer
`;
