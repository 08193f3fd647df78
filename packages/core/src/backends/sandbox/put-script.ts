/** The script that puts content in its place: uploaded, or part of the command. */
import { MAX_THERE_BYTES } from "./limits.ts";
import { GIVE, PRELUDE } from "./scripts.ts";

/**
 * `create` refuses what exists, `replace` does not, `swap` only where the content is still what it was; `edit`
 * replaces a text where it stands.
 */
export type PutMode = "create" | "replace" | "append" | "swap" | "edit";

/**
 * Values: path, the uploaded file, mode, the SHA-256 the content must have for `swap`, what `cksum` must say of it
 * where there is no `sha256sum`, a name for the lock; as they stand: the content where it was not uploaded, `o`
 * and octal or `b` and base64; for `swap` how many bytes of the file stay before and behind the content, and
 * the SHA-256 of what comes out; for `append` whether the text is more than ASCII; for `edit` the old text with
 * `\\001` for its line ends, whether every occurrence counts, and whether the texts have line ends.
 * Body: `R`, for `edit` with the number of occurrences; `W` or `D` as in `GIVE` where an edit or an addition needs more
 * thought than a shell has; codes besides those of files: `CHANGED` for a lost race; `NOT_A_DIRECTORY` is followed by
 * how many levels up the file is; `UPLOAD` where the uploaded file is not ours to read and remove.
 *
 * New content is written beside its place and then linked (which fails where something is) or renamed, so
 * that no reader sees half a file and of many creators one wins. The lock holds off other scripts of ours
 * for the time of the last step; it is ignored after two seconds. A link is followed, not replaced.
 */
export const PUT = `${PRELUDE}${GIVE}
decode "$1"; path=$value
decode "$2"; upload=$value
decode "$3"; mode=$value
decode "$4"; sum=$value
decode "$5"; check=$value
decode "$6"; lock=$scratch/.deepwright-lock-$value
content=$7 before=$8 behind=$9
shift 9
result=$1 wide=$2
decode "$3"; needle=$value
every=$4 ends=$5
target=$path part='' locked='' count=''
main() {
  trap 'rm -f "$upload" "$part"; [ -z "$locked" ] || rmdir "$lock"' EXIT
  trap 'exit 1' HUP INT TERM
  case $upload in
    */.deepwright-upload-*) [ -O "$upload" ] || [ "$(id -u)" = 0 ] || { fail UPLOAD; return; } ;;
  esac
  place
}
emit() {
  case $content in
    o*) printf '%b' "\${content#o}" ;;
    b*) printf '%s' "\${content#b}" | base64 -d ;;
    *) cat <"$upload" ;;
  esac
}
compose() {
  if [ "$mode" = edit ]; then replace_all; return; fi
  if [ -z "$before" ]; then emit; return; fi
  if [ "$before" -gt 0 ]; then head -c "$before" <"$target" || return; fi
  emit || return
  if [ "$behind" -gt 0 ]; then tail -c "$behind" <"$target"; fi
}
place() {
  if [ -L "$path" ] && [ "$mode" != create ]; then
    target=$(readlink -f "$path" && printf x) || { fail FILE_NOT_FOUND; return; }
    target=\${target%?x}
  fi
  if [ -d "$target" ]; then fail IS_DIRECTORY
  elif [ -e "$target" ] && [ ! -f "$target" ]; then fail SPECIAL_FILE
  elif [ "$mode" = create ] && exists "$target"; then fail FILE_EXISTS
  elif [ -e "$target" ]; then change
  elif [ "$mode" = edit ]; then absent "$target"
  elif [ "$mode" = swap ]; then fail CHANGED
  else create
  fi
}
create() {
  parent=\${target%/*}/
  if [ ! -d "$parent" ]; then
    why=$(mkdir -p "$parent" 2>&1) || { blocked; return; }
  fi
  copy || return
  if fasten; then printf R.
  elif exists "$target"; then
    if [ "$mode" = create ]; then fail FILE_EXISTS; else change; fi
  elif why=$( { set -C; emit >"$target"; } 2>&1 ); then printf R.
  elif exists "$target"; then fail FILE_EXISTS
  else failure "$why"
  fi
}
fasten() {
  if has link; then link "$part" "$target"; else ln "$part" "$target"; fi
}
copy() {
  part=\${target%/*}/.deepwright-$call.part
  why=$( { set -C; compose >"$part"; } 2>&1 ) && return 0
  failure "$why"
  return 1
}
change() {
  if [ "$mode" = edit ]; then locate || { fail HARD; return; }; fi
  if [ ! -w "$target" ]; then fail PERMISSION_DENIED; return; fi
  if [ "$mode" = append ]; then extend; return; fi
  if [ -z "$part" ]; then copy || return; fi
  owner=$(stat -c %u:%g "$target")
  [ "$owner" = "$(stat -c %u:%g "$part")" ] || chown "$owner" "$part"
  chmod "$(stat -c %a "$target")" "$part"
  hold_lock
  case $mode in swap | edit) if ! { unchanged && composed; }; then fail CHANGED; return; fi ;; esac
  if why=$(mv -f "$part" "$target" 2>&1); then printf 'R%s.' "$count"; else failure "$why"; fi
}
extend() {
  case $(head -c 2 <"$target" | od -An -tx1) in ' ff fe' | ' fe ff') fail HARD; return ;; esac
  if [ "$(head -c 8192 <"$target" | tr -dc '\\000' | wc -c)" -gt 0 ]; then fail NOT_TEXT; return; fi
  if [ -n "$wide" ] && ! in_utf8; then fail HARD; return; fi
  hold_lock
  if why=$( { emit >>"$target"; } 2>&1 ); then printf R.; else failure "$why"; fi
}
composed() {
  added=$(emit | wc -c)
  if [ "$mode" = edit ]; then size=$(($(wc -c <"$target") + count * (added - length)))
  else size=$((before + added + behind))
  fi
  [ "$(wc -c <"$part")" -eq "$size" ] || return
  if [ "$mode" = edit ] || ! has sha256sum; then return 0; fi
  now=$(sha256sum <"$part")
  [ "\${now%% *}" = "$result" ]
}
unchanged() {
  if has sha256sum; then
    now=$(sha256sum <"$target")
    [ "\${now%% *}" = "$sum" ]
  else
    [ "$(cksum <"$target")" = "$check" ]
  fi
}
hold_lock() {
  tries=0
  while [ $tries -lt 40 ]; do
    if mkdir "$lock"; then locked=yes; return; fi
    tries=$((tries + 1))
    sleep 0.05 || sleep 1
  done
  rmdir "$lock"
  if mkdir "$lock"; then locked=yes; fi
}
blocked() {
  above=$target levels=0
  while [ -n "$above" ]; do
    above=\${above%/*} levels=$((levels + 1))
    if [ -n "$above" ] && exists "$above" && [ ! -d "$above" ]; then fail "NOT_A_DIRECTORY $levels"; return; fi
  done
  failure "$why"
}
in_utf8() {
  if ! counted '\\200-\\377'; then return 0; fi
  ! counted '\\300\\301\\365-\\377' && has iconv && iconv -f UTF-8 -t UTF-8 <"$target" >/dev/null
}
counted() { [ "$(tr -dc "$1" <"$target" | head -c 1 | wc -c)" -gt 0 ]; }
locate() {
  has awk && has sha256sum && [ -r "$target" ] && [ "$(wc -c <"$target")" -le ${MAX_THERE_BYTES} ] || return 1
  sum=$(sha256sum <"$target") && sum=\${sum%% *}
  if counted '\\000-\\010\\016-\\037\\364'; then return 1; fi
  if [ -n "$ends" ] && counted '\\r'; then return 1; fi
  in_utf8 || return 1
  offsets=$(tr '\\n' '\\001' <"$target" | needle=$needle awk -v most="\${every:-1}" '{
    needle = ENVIRON["needle"]; rest = $0; at = 0; count = 0
    while ((found = index(rest, needle)) > 0) {
      if (++count > most) { print "many"; exit }
      print at + found - 1
      at += found - 1 + length(needle)
      rest = substr(rest, found + length(needle))
    }
    print "all"
  }')
  case $offsets in *many | '' | all) return 1 ;; *all) offsets=\${offsets%all} ;; *) return 1 ;; esac
  count=$(printf '%s' "$offsets" | wc -l) && count=$((count)) length=$(printf '%s' "$needle" | wc -c)
}
replace_all() {
  from=0
  for at in $offsets; do
    if [ "$at" -gt "$from" ]; then tail -c "+$((from + 1))" <"$target" | head -c $((at - from)) || return; fi
    emit || return
    from=$((at + length))
  done
  tail -c "+$((from + 1))" <"$target"
}
said=$( (main) 2>/dev/null)
if [ "$said" = EHARD. ]; then give; else printf '%s' "$said" | frame data; fi
`;
