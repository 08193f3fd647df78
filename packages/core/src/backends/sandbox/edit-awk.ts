/** How a text is replaced in a file by a program for any awk. */

/**
 * Reads the rows of the old text, those of the new one, and the file in pieces, with `mark` for `\n`. Prints what it
 * becomes; without `writes` how often the text was found and by how many bytes the file changes, or `?` where
 * a place may lie within a character. An awk copies and counts all of what it is asked about, so pieces are short.
 *
 * `end` is how lines end. Where it is empty they end in several ways and are taken one by one: a line ends as in
 * `text/lines.ts`, the new text gets the line ends of `text/edit.ts`, and as many lines are held as the old text has. What
 * looks like a number is compared as text when `""` is added to it.
 *
 * `trail` is what stands before a place, from the last byte that ends a character for sure; `whole` the characters
 * that are known. An awk that counts characters rather than bytes says nothing.
 */
export const AWK = `
function say(words) { if (writes) print words }
function past_by(words,  i) {
  say(words)
  if (!checks) return
  for (i = length(words); i && substr(words, i, 1) >= "\\200"; i--);
  trail = i ? substr(words, i) : trail words
  if (length(trail) > 8192) trail = "\\377"
}
function aligned(  i, byte) {
  i = 1
  byte = substr(trail, 1, 1)
  if (byte < "\\200") { if (trust == "quads" && byte != "" && index("0123456789", byte)) return 0; i++ }
  while ((byte = substr(trail, i, 1)) != "") {
    if (byte in whole) i++
    else if (substr(trail, i, 2) in whole) i += 2
    else return i == length(trail) && (byte substr(row[1], 1, 1)) in whole ? -1 : 0
  }
  return 1
}
function hit(end, raw,  i) {
  count++
  if (checks && aligned() < 1) unsure = 1
  trail = ""
  if (!turns) end = "\\n"
  change += added + (all - old - 1) * length(end) - raw
  if (!writes) return
  for (i = old + 1; i < all; i++) print row[i] end
  print row[all]
}
function feed(piece,  at) {
  held = held piece
  while ((at = index(held, needle)) > 0) {
    past_by(substr(held, 1, at - 1))
    if (checks && aligned() < 0) { past_by(substr(held, at, 1)); held = substr(held, at + 1); continue }
    hit(near, size)
    held = substr(held, at + size)
  }
  at = length(held) - size + 1
  if (at < 1) return
  past_by(substr(held, 1, at))
  held = substr(held, at + 1)
}
function search(line, step,  at, most) {
  most = length(line)
  if (most <= 1024) feed(line)
  else for (at = 1; at <= most; at += step) search(substr(line, at, step), step / 32)
}
function found(  i) {
  i = length(text[first]) - length(row[1])
  if (i < 0 || substr(text[first], i + 1) != row[1]) return 0
  for (i = 2; i < old; i++) if ((text[first + i - 1] "") != row[i]) return 0
  return substr(text[past - 1], 1, length(row[old])) == row[old]
}
function take(  i, kept, raw) {
  kept = length(text[first]) - length(row[1])
  past_by(substr(text[first], 1, kept))
  raw = size
  for (i = first; i < past - 1; i++) raw += length(ends[i]) - 1
  hit(ends[first], raw)
  for (; first < past - 1; first++) { delete text[first]; delete ends[first] }
  text[first] = substr(text[first], length(row[old]) + 1)
}
function drop() {
  say(text[first] ends[first])
  delete text[first]; delete ends[first]
  first++
  trail = ""
}
function line_of(line, end) {
  if (old > 1) {
    text[past] = line; ends[past++] = end
    if (past - first < old) return
    if (found()) take(); else drop()
    return
  }
  trail = held = ""
  near = end == "" ? before : end
  search(line, 1048576)
  say(held end)
  before = end
}
function lines_of(line, end,  i, most) {
  if (end != "" && substr(line, length(line)) == "\\r") {
    end = "\\r\\n"
    line = substr(line, 1, length(line) - 1)
  }
  if (index(line, "\\r")) {
    most = split(line, piece, "\\r")
    for (i = 1; i < most; i++) line_of(piece[i], "\\r")
    line = piece[most]
  }
  line_of(line, end)
}
function start(  i, most, byte, next_byte, between) {
  between = end
  sub("\\n", mark, between)
  needle = row[1]
  for (i = 2; i <= old && between != ""; i++) needle = needle between row[i]
  size += (old - 1) * (between == "" ? 1 : length(between))
  near = end
  before = "\\n"
  checks = trust != "any" && row[1] >= "0"
  most = split(pairs, code, ".")
  for (i = 1; i < most; i += 3) {
    byte = sprintf("%c", code[i] + 0)
    if (code[i + 1] == 0) whole[byte]
    else for (next_byte = code[i + 1] + 0; next_byte <= code[i + 2] + 0; next_byte++) whole[byte sprintf("%c", next_byte)]
  }
}
BEGIN { ORS = ""; first = past = 0; if (length("\\303\\251") != 2) { strange = 1; exit } }
NR <= all {
  row[NR] = $0 ""
  if (NR <= old) size += length($0); else added += length($0)
  if (NR == all) start()
  next
}
end != "" { feed($0); next }
{
  most = split($0, part, mark)
  for (i = 1; i <= most; i++) {
    if (i > 1) { lines_of(long middle short, "\\n"); long = middle = short = "" }
    short = short part[i]
    if (length(short) > 65536) { middle = middle short; short = "" }
    if (length(middle) > 2097152) { long = long middle; middle = "" }
  }
}
END {
  if (strange) exit
  if (end != "") say(held)
  else { lines_of(long middle short, ""); while (first < past) drop() }
  if (writes) exit
  if (unsure) print "?"; else printf "%d %d", count, change
}`;
