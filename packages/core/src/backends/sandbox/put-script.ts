/** The script that puts content in its place: uploaded, or part of the command. */
import type { Value } from "./command.ts";
import { EDIT, ENCODING } from "./edit-script.ts";
import type { SpelledEdit } from "./plain-edit.ts";
import { GIVE, PRELUDE } from "./scripts.ts";

/**
 * `create` refuses what exists, `replace` does not, `swap` only where the content is still what it was; `edit`
 * replaces a text where it stands.
 */
export type PutMode = "create" | "replace" | "append" | "swap" | "edit";

/** What the script needs to know beside the content. */
export interface PutDetails {
  /** What the file has to be still. */
  readonly old?: Buffer;
  /** The SHA-256 of that, where no more of it is known. */
  readonly sum?: string | undefined;
  /** Bytes of it that stay. */
  readonly before?: number;
  readonly behind?: number;
  /** The SHA-256 of all of it afterwards. */
  readonly result?: string;
  readonly isWide?: boolean;
  /** For an edit where the file lies. */
  readonly edit?: Omit<SpelledEdit, "content"> & { readonly replaceAll: boolean };
}

/** Those behind the content. */
export function valuesOf({ before, behind, result, isWide, edit }: PutDetails): Value[] {
  const yes = (fact: boolean | undefined): string => (fact ? "yes" : "");
  const { oldRows, rows, replaceAll, turns, trust = "", table = "" } = edit ?? {};
  const kept = [before ?? "", behind ?? "", result ?? ""];
  return [...kept, yes(isWide), oldRows ?? "", rows ?? "", yes(replaceAll), yes(turns), trust, table];
}

/**
 * Values: path, the uploaded file, mode, the SHA-256 the content must have (for `swap`, and where the encoding is known),
 * what `cksum` must say of it where there is no `sha256sum`, a name for the lock; as they stand: the content where it
 * was not uploaded, `o` and octal, `b` and base64, or `z` and base64 of what `gzip` packed; for `swap` how many bytes of
 * the file stay before and behind the content, and the SHA-256 of what comes out; for `append` whether the text is more
 * than ASCII; for `edit` how many rows of the content are the old text, how many there are, whether every occurrence counts, whether the new text gets the line ends
 * of the file, and which places count: see `EDIT`.
 * Body: `R`, for `edit` with the number of occurrences; `W` or `D` as in `GIVE` where an edit or an addition needs more
 * thought than a shell has; `S` facts, the SHA-256, and the bytes that tell the encoding, where that is what has to be
 * known of a file too long to be printed; codes besides those of files: `CHANGED` for a lost race; `NOT_A_DIRECTORY`
 * is followed by how many levels up the file is; `UPLOAD` where the uploaded file is not ours to read and remove.
 *
 * New content is written beside its place and then linked (which fails where something is) or renamed, so
 * that no reader sees half a file and of many creators one wins. The lock holds off other scripts of ours
 * for the time of the last step; it is ignored after two seconds. A link is followed, not replaced.
 */
const script = (more: string): string =>
  withoutIndentation(`${PRELUDE}${GIVE}${ENCODING}${more}
decode "$1"; path=$value
decode "$2"; upload=$value
decode "$3"; mode=$value
decode "$4"; sum=$value
decode "$5"; check=$value
decode "$6"; lock=$scratch/.deepwright-lock-$value
content=$7 before=$8 behind=$9
shift 9
result=$1 wide=$2 old=$3 all=$4 every=$5 turns=$6 trust=$7 table=$8
target=$path part='' locked='' count='' utf16='' end='' hard=''
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
    z*) printf '%s' "\${content#z}" | base64 -d | gzip -dc ;;
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
  if [ "$mode" = edit ]; then locate || { fail "\${hard:-HARD}"; return; }; fi
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
  if [ -z "$sum" ]; then
    if ! marked && top | counted '\\000'; then fail NOT_TEXT; return; fi
    if [ -n "$utf16" ] || { [ -n "$wide" ] && ! in_utf8; }; then
      if has sha256sum; then sum=$(sha256sum <"$target"); fi
      fail "HARD \${sum%% *}"
      return
    fi
  fi
  hold_lock
  if [ -n "$sum" ] && ! unchanged; then fail CHANGED; return; fi
  if why=$( { emit >>"$target"; } 2>&1 ); then printf R.; else failure "$why"; fi
}
composed() {
  if [ "$mode" = edit ]; then
    [ "$(text "$part" | wc -c)" -eq $(($(text "$target" | wc -c) + growth)) ]
    return
  fi
  [ "$(wc -c <"$part")" -eq $((before + $(emit | wc -c) + behind)) ] || return
  if ! has sha256sum; then return 0; fi
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
said=$( (main) 2>/dev/null)
case $said in
  'EHARD '??*) said=\${said#EHARD }; sample "\${said%.}" ;;
  EHARD*) give ;;
  *) printf '%s' "$said" | frame data ;;
esac
`);

export const PUT = script("");
/** The same for `edit`. */
export const PUT_EDIT = script(EDIT);

/** What a command may hold is for the content. */
function withoutIndentation(script: string): string {
  return script.replace(/^ +/gm, "");
}
