/** Parts of the script that puts content in its place: what it knows about encodings, and how it edits a text. */
import { HEAD_BYTES, SAMPLE_BYTES } from "../disk/detect-encoding.ts";
import { AWK } from "./edit-awk.ts";
import { MAX_WHOLE_BYTES } from "./limits.ts";

/** Bytes that a file may get longer by: more would be too long for a string here. */
const MAX_GROWTH = 512 * 1024 * 1024;

/**
 * What tells the encoding of `$target`, as far as a shell can tell. `sample` answers with `S` where the file at `$path` is
 * too long to be printed: the bytes that `formatOf` looks at.
 */
export const ENCODING = `
counted() { [ "$(tr -dc "$1" | head -c 1 | wc -c)" -gt 0 ]; }
top() { head -c ${HEAD_BYTES} <"$target"; }
in_utf8() {
  if ! counted '\\200-\\377' <"$target"; then return 0; fi
  ! counted '\\300\\301\\365-\\377' <"$target" && has iconv && iconv -f UTF-8 -t UTF-8 <"$target" >/dev/null
}
marked() {
  case $(head -c 2 <"$target" | od -An -tx1) in
    ' ff fe') utf16=UTF-16LE ;;
    ' fe ff') utf16=UTF-16BE ;;
    *) return 1 ;;
  esac
}
sample() {
  length=$(stat -L -c %s "$path")
  if [ "\${length:-0}" -le "$inline" ] || [ "$inline" -lt 25000 ] || packs "$path"; then give; return; fi
  coded=$(tr '\\n\\200-\\377' '.\\n' <"$path" | head -n 1 | wc -c)
  {
    printf 'S%s %s\\n' "$(stat -L -c '%s %Y' "$path")" "$1"
    head -c ${HEAD_BYTES} <"$path"
    tail -c "+$((coded))" <"$path" | head -c ${SAMPLE_BYTES}
    printf .
  } | frame data
}
`;

/**
 * `$content` holds `$all` rows: `$old` of the old text, and those of the new one. `$trust` says which places count: `any`, where a byte
 * that fits is the character; `pairs` and `quads`, where characters have up to two or four bytes, those behind
 * a byte that cannot be the first of a character, or behind characters of `$table`; `ascii`, where the texts are ASCII and nothing is known about the
 * file; nothing where it has to be UTF-8. UTF-16 is edited as UTF-8.
 *
 * `suspect` holds for at least what `isBinaryHead` takes for binary: those of its marks that have no control characters
 * are spelled out. `spare` finds bytes that stand for line ends, and for NULs, which no awk can hold.
 */
export const EDIT = `
text() {
  if [ -n "$utf16" ]; then tail -c +3 <"$1" | iconv -f "$utf16" -t UTF-8; else cat <"$1"; fi
}
back() { if [ -n "$utf16" ]; then iconv -f UTF-8 -t "$utf16"; else cat; fi; }
odd='\\001-\\007\\016-\\032\\034-\\037\\177'
suspect() {
  if ! top | counted '\\200-\\377'; then return 1; fi
  if top | counted "$odd" || [ "$(tail -c +258 <"$target" | head -c 5)" = ustar ]; then return 0; fi
  case $(head -c 8 <"$target" | od -An -tx1 | tr -d ' \\n') in
    ff* | 47494638* | 52494646* | ????????66747970 | 494433* | 4f676753* | 664c6143* | 255044462d*) ;;
    *) return 1 ;;
  esac
}
judge() {
  if marked; then
    trust=any
    has iconv && ! text "$target" | head -c $((${HEAD_BYTES} * 2)) | counted "\\000$odd" &&
      now=$( { head -c 2 <"$target"; text "$target" | back; } | sha256sum) && [ "\${now%% *}" = "$sum" ]
    return
  fi
  if top | counted '\\000'; then return 1; fi
  case $trust in any | pairs | quads) return 0 ;; esac
  if in_utf8; then trust=any; return 0; fi
  hard="HARD $sum"
  [ "$trust" = ascii ] && ! suspect && trust=pairs
}
spare() {
  hidden='\\n' marks='' needed=1
  if text "$target" | counted '\\000'; then hidden='\\n\\000' needed=2; fi
  for code in 001 002 003 004 005 006 007; do
    if { emit; text "$target"; } | counted "\\\\$code"; then continue; fi
    marks="$marks\\\\$code" needed=$((needed - 1))
    if [ $needed = 0 ]; then return; fi
  done
  return 1
}
line_ends() {
  if { [ "$old" = 1 ] && [ -z "$turns" ]; } || ! text "$target" | counted '\\r'; then end='\\n'; return; fi
  feeds=$(text "$target" | tr -dc '\\n' | wc -c) returns=$(text "$target" | tr -dc '\\r' | wc -c)
  pairs=$( { printf x; text "$target"; } | tr '\\r\\n' '\\n\\r' | cut -b 1 | tr -dc '\\r' | wc -c)
  if [ "$feeds" -eq 0 ]; then end='\\r'
  elif [ "$feeds" -eq "$returns" ] && [ "$feeds" -eq "$pairs" ]; then end='\\r\\n'
  fi
}
locate() {
  has awk && has fold && has sha256sum && [ -r "$target" ] && [ "$(wc -c <"$target")" -le ${MAX_WHOLE_BYTES} ] || return
  if [ -z "$sum" ]; then sum=$(sha256sum <"$target") && sum=\${sum%% *}
  elif ! unchanged; then hard=CHANGED; return 1
  fi
  if { emit; cat <"$target"; } | counted '\\000-\\007\\r\\200-\\377'; then judge && spare || return; line_ends
  else trust=any hidden='\\n' marks='\\001' end='\\n'
  fi
  count=$(edited)
  if [ "$count" = '?' ]; then return 1; fi
  hard='' growth=\${count#* } count=\${count% *}
  [ "\${count:-0}" -eq 1 ] || { [ "\${count:-0}" -gt 1 ] && [ -n "$every" ]; } || return
  [ "$growth" -le ${MAX_GROWTH} ]
}
edited() {
  { emit; text "$target" | tr "$hidden" "$marks" | fold -b -w 2048; } | awk -v old="$old" -v all="$all" -v end="$end" -v mark="\${marks%"\${marks#????}"}" -v turns="$turns" \
    -v trust="$trust" -v pairs="$table" -v writes="$1" '${AWK}' | tr "$marks" "$hidden"
}
replace_all() {
  if [ -n "$utf16" ]; then head -c 2 <"$target"; fi
  edited yes | back
}
`;
