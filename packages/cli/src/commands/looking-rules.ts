/**
 * Rules for commands that only read, and show no content of key files unless they name one.
 *
 * From git's history, these commands show names of commits and files. A change, or an object named by its hash, may belong to
 * any file, and addresses of remotes may contain keys. Commands that show those need approval.
 */
import {
  type AllowRule,
  type CommandRules,
  createCommandRules,
  GIT_LOG_OPTIONS,
  READ_ONLY_COMMANDS,
} from "@deepwright/sandboxes/command-rules";

/** Made when it is first needed. */
export function lookingRules(): CommandRules {
  const others = READ_ONLY_COMMANDS.filter(({ command }) => !SHOWING.has(command));
  return createCommandRules([...others, ...GIT]);
}

/** Searches read all files; of the others there are rules of their own below. */
const SHOWING: ReadonlySet<string> = new Set([
  ...["grep", "rg"],
  ...["git log", "git show", "git diff", "git status", "git remote"],
]);

/** With one of these git does not show what changed inside of files. */
const NAMING = [
  ...["--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status"],
  ...["--raw", "-s", "--no-patch"],
];
const NAMING_OPTIONS = [
  ...NAMING.map((option) => (option === "--stat" ? "--stat[=<text>]" : option)),
  ...["-M", "-C", "-R", "--no-color", "--full-index", "--abbrev[=<number>]", "--diff-filter=<text>"],
  ...["--no-ext-diff", "--no-textconv", "--no-renames"],
];

function looks(
  command: string,
  options: readonly string[],
  operands: NonNullable<AllowRule["operands"]>,
  examples: AllowRule["examples"],
): AllowRule {
  return { decision: "allow", command, options, operands, examples };
}

const GIT: readonly AllowRule[] = [
  looks("git log", [...GIT_LOG_OPTIONS, ...NAMING_OPTIONS], "paths", {
    match: ["git log", "git log --oneline -5", "git log --stat -n 3 -- src/a.ts", 'git log --format="%h %s"'],
    notMatch: [
      "git log -p",
      "git log -U3",
      "git log -Sx",
      "git log -G x",
      "git log --check",
      "git log -L1,2:a",
    ],
  }),
  looks("git show", [...GIT_LOG_OPTIONS, ...NAMING_OPTIONS], "paths", {
    match: ["git show HEAD~1 --stat", "git show HEAD:src/a.ts"],
    notMatch: ["git show -p", "git show --ext-diff", "git show HEAD:../../x", "git show > x"],
  }),
  looks("git diff", [...NAMING_OPTIONS, "--cached", "--staged", "--merge-base"], "paths", {
    match: ["git diff --cached --stat", "git diff HEAD~2 --name-only -- src"],
    notMatch: ["git diff -U9", "git diff --word-diff", "git diff --output=x", "git diff --no-index a b"],
  }),
  looks(
    "git status",
    ["-s", "--short", "-b", "--branch", "--porcelain[=<text>]", "--long", "--ignored"],
    "paths",
    {
      match: ["git status", "git status -sb", "git status --porcelain=v2"],
      notMatch: ["git status -v", "git status -sv", "git -C /tmp status"],
    },
  ),
  looks("git remote", [], "none", {
    match: ["git remote"],
    notMatch: ["git remote -v", "git remote add x y"],
  }),
];

/** Whether git, with words that the rules let through, would show what is in files that are not named. */
export function showsUnnamed(words: readonly string[]): boolean {
  const [program, act, ...rest] = words;
  if (program !== "git" || (act !== "show" && act !== "diff")) return false;
  const isNaming = rest.some((word) => NAMING.includes(word.replace(/^--stat=.*$/s, "--stat")));
  return act === "diff" ? !isNaming : showsMore(rest, isNaming);
}

/** True for object names with an unknown target: a hash may belong to a file. */
function showsMore(words: readonly string[], isNaming: boolean): boolean {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const objects = words.slice(0, end).filter((word) => !word.startsWith("-"));
  const isFile = objects.length > 0 && objects.every((object) => FILE.test(object) && !object.includes(".."));
  return !isFile && !(isNaming && objects.every((object) => COMMIT.test(object)));
}

const COMMIT = /^HEAD(?:[~^]\d*)*$/;
/** A file, or a list of files, as it was in a commit: `HEAD~2:src/a.ts`. */
const FILE = /^[\w./~^-]+:[^:]*$/;
