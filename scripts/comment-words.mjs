// Prints the share of doc comments that start with a bare pronoun or relative ("What …", "Those …"), which hides their subject.
// Fails above the limit. `--list` prints them; paths narrow the search.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const LIMIT = 0.02;
const VAGUE = /^(?:What|Who|Whom|Whose|Whoever|Whatever|Which|That|Those|These|Such|Of)\b/;
const DOC_COMMENT = /\/\*\*\s*(?:\*\s*)?([^\n]*)/g;

const words = process.argv.slice(2);
const paths = words.filter((word) => !word.startsWith("-"));
const { stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "packages"], {
  encoding: "utf8",
  maxBuffer: 2 ** 26,
});
const sources = stdout
  .split("\n")
  .filter((file) => /\.tsx?$/.test(file) && existsSync(file))
  .filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)));

const vague = [];
let comments = 0;
for (const file of sources) {
  const text = readFileSync(file, "utf8");
  for (const { 1: start, index } of text.matchAll(DOC_COMMENT)) {
    comments += 1;
    if (VAGUE.test(start)) vague.push(`${file}:${text.slice(0, index).split("\n").length} ${start}`);
  }
}

if (words.includes("--list")) for (const line of vague) console.log(line);
const share = comments === 0 ? 0 : vague.length / comments;
const percent = (value) => `${(100 * value).toFixed(1)} %`;
console.log(
  `${vague.length} of ${comments} doc comments start with a pronoun or relative: ${percent(share)} (limit ${percent(LIMIT)})`,
);
if (share > LIMIT) {
  console.log("Name the subject first. `node scripts/comment-words.mjs --list` prints them.");
  process.exitCode = 1;
}
