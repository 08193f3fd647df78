/** Commands that only look, with options that keep it so. */
import type { AllowRule, Operands } from "./command-rule.ts";

function reads(
  command: string,
  { options = [], operands = "none" }: { readonly options?: readonly string[]; readonly operands?: Operands },
  match: readonly string[],
  notMatch: readonly string[],
): AllowRule {
  return { decision: "allow", command, options, operands, examples: { match, notMatch } };
}

/** Options that `log`, `show` and `diff` share; not `--output`, `--ext-diff`, `--textconv`, `-O`. */
const DIFF = [
  ...["-p", "-u", "--patch", "-s", "--no-patch", "-U <number>", "--unified=<number>", "--raw"],
  ...[
    "--stat[=<text>]",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--name-only",
    "--name-status",
  ],
  ...[
    "-M",
    "-C",
    "-R",
    "-w",
    "-b",
    "--ignore-all-space",
    "--ignore-blank-lines",
    "--word-diff",
    "--no-color",
  ],
  ...["--minimal", "--histogram", "--check", "--full-index", "--abbrev[=<number>]", "--diff-filter=<text>"],
  ...["--no-ext-diff", "--no-textconv", "--no-renames", "--exit-code", "--quiet", "-S <text>", "-G <text>"],
];

/** Options of `git log` that choose commits and how they are shown, not the content of files. */
export const GIT_LOG_OPTIONS: readonly string[] = [
  ...["--oneline", "-n <number>", "--max-count=<number>", "-<number>", "--skip=<number>", "--graph", "--all"],
  ...["--decorate[=<text>]", "--no-decorate", "--reverse", "--merges", "--no-merges", "--first-parent"],
  ...[
    "--format=<text>",
    "--pretty[=<text>]",
    "--date=<text>",
    "--relative-date",
    "--abbrev-commit",
    "--follow",
  ],
  ...[
    "--since=<text>",
    "--after=<text>",
    "--until=<text>",
    "--before=<text>",
    "--author=<text>",
    "--committer=<text>",
  ],
  ...["--grep=<text>", "-i", "-E", "-F", "--branches", "--tags", "--remotes", "--topo-order", "--date-order"],
];

const GIT: readonly AllowRule[] = [
  reads(
    "git status",
    {
      options: ["-s", "--short", "-b", "--branch", "--porcelain[=<text>]", "--long", "-v", "--ignored"],
      operands: "paths",
    },
    ["git status", "git status -sb", "git status --porcelain=v2", "git status src"],
    ["git -C /tmp status", "git statusx", "git status /etc", "git status; id"],
  ),
  reads(
    "git log",
    { options: [...GIT_LOG_OPTIONS, ...DIFF], operands: "paths" },
    [
      "git log",
      "git log --oneline -5",
      "git log -p -n 3 -- src/a.ts",
      "git log main..HEAD",
      'git log --format="%h %s"',
    ],
    [
      "git log --output=/tmp/x",
      "git log --ext-diff",
      "git -c core.pager=id log",
      "git log $(id)",
      "git logout",
    ],
  ),
  reads(
    "git show",
    { options: [...GIT_LOG_OPTIONS, ...DIFF], operands: "paths" },
    ["git show", "git show HEAD~1 --stat", "git show HEAD:src/a.ts"],
    ["git show --ext-diff", "git show HEAD:../../x", "git show > x"],
  ),
  reads(
    "git diff",
    { options: [...DIFF, "--cached", "--staged", "--merge-base"], operands: "paths" },
    ["git diff", "git diff --cached --stat", "git diff HEAD~2 -- src"],
    ["git diff --no-index /etc/passwd a", "git diff --output=x", "git diff --ext-diff"],
  ),
  reads(
    "git blame",
    { options: ["-w", "-L <text>", "-s", "-e", "--porcelain"], operands: "paths" },
    ["git blame src/a.ts", "git blame -L 1,20 src/a.ts"],
    ["git blame --contents /etc/passwd a", "git blame ../a"],
  ),
  reads(
    "git branch",
    { options: ["-a", "-r", "-v", "--all", "--remotes", "--show-current", "--list"] },
    ["git branch", "git branch -av", "git branch --show-current"],
    ["git branch new", "git branch -D old", "git branch -m a b", "git branch --edit-description"],
  ),
  reads(
    "git ls-files",
    {
      options: ["-m", "-o", "-d", "-s", "--modified", "--others", "--deleted", "--exclude-standard"],
      operands: "paths",
    },
    ["git ls-files", "git ls-files -mo --exclude-standard src"],
    ["git ls-files -X /etc/passwd", "git ls-files | sh"],
  ),
  reads(
    "git rev-parse",
    {
      options: ["--abbrev-ref", "--short", "--show-toplevel", "--is-inside-work-tree", "--verify"],
      operands: "paths",
    },
    ["git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD"],
    ["git rev-parse --parseopt", "git rev-parse HEAD && id"],
  ),
  reads("git remote", { options: ["-v"] }, ["git remote -v"], ["git remote add x y", "git remote update"]),
  reads("git stash list", {}, ["git stash list"], ["git stash", "git stash pop"]),
];

const FILES: readonly AllowRule[] = [
  reads(
    "ls",
    {
      options: [..."laAhRrtSF1dgs"].map((letter) => `-${letter}`).concat("--color[=<text>]", "--all"),
      operands: "paths",
    },
    ["ls", "ls -la", "ls -1 src test"],
    ["ls /root", "ls ~", "ls ..", "ls *", "ls > x", "/tmp/ls"],
  ),
  reads(
    "cat",
    { options: ["-n", "-b", "-A", "-s", "--number"], operands: "paths" },
    ["cat a.txt", "cat -n src/a.ts src/b.ts", "cat 'a b.txt'"],
    ["cat /etc/passwd", "cat ../a", "cat a > b", "cat < a", "cat a; id", "cat -"],
  ),
  reads(
    "head",
    {
      options: ["-n <number>", "-c <number>", "-<number>", "-q", "-v", "--lines=<number>"],
      operands: "paths",
    },
    ["head a", "head -n 20 a", "head -20 a b"],
    ["head /etc/passwd", "head -n 5 a | sh"],
  ),
  reads(
    "tail",
    {
      options: ["-n <number>", "-c <number>", "-<number>", "-q", "-v", "--lines=<number>"],
      operands: "paths",
    },
    ["tail a", "tail -n 20 a", "tail -n +5 a"],
    ["tail -f a", "tail --pid=1 a", "tail ../a"],
  ),
  reads(
    "wc",
    { options: ["-l", "-w", "-c", "-m", "-L"], operands: "paths" },
    ["wc -l a", "wc a b"],
    ["wc --files0-from=/etc/passwd", "wc -l < a"],
  ),
  reads(
    "stat",
    { options: ["-c <text>", "--format=<text>"], operands: "paths" },
    ["stat a", "stat -c %s a"],
    ["stat /etc/passwd", "stat -f /"],
  ),
  reads(
    "du",
    { options: ["-s", "-h", "-a", "-c", "-d <number>", "--max-depth=<number>"], operands: "paths" },
    ["du -sh .", "du -h -d 1"],
    ["du /", "du --files0-from=x"],
  ),
  reads(
    "diff",
    { options: ["-u", "-q", "-w", "-b", "-U <number>", "-y", "--brief"], operands: "paths" },
    ["diff a b", "diff -uw a b"],
    ["diff -r a b", "diff a /etc/passwd", "diff --from-file=/etc/passwd a"],
  ),
  reads(
    "find",
    {
      options: ["-name <text>", "-iname <text>", "-path <text>", "-type <text>", "-maxdepth <number>"].concat(
        ["-mindepth <number>", "-newer <path>", "-empty", "-not", "-print", "-size <text>"],
      ),
      operands: "paths",
    },
    ["find . -name '*.ts' -type f", "find src -maxdepth 2"],
    [
      "find . -exec id +",
      "find . -delete",
      "find . -fprint x",
      "find / -name x",
      "find . -name *.ts",
      "find . -ok id",
    ],
  ),
];

const SEARCH: readonly AllowRule[] = [
  reads(
    "grep",
    {
      options: [..."rnilcwEFohHvs"]
        .map((letter) => `-${letter}`)
        .concat(
          "-A <number>",
          "-B <number>",
          "-C <number>",
          "-m <number>",
          "--include=<text>",
          "--exclude-dir=<text>",
        ),
      operands: "text-then-paths",
    },
    ["grep -rn TODO src", "grep -i '^a b$' a.txt", "grep -A 3 /api/ src/a.ts"],
    ["grep -f /etc/passwd a", "grep root /etc/passwd", "grep -e a /etc/passwd", "grep a b | sh"],
  ),
  reads(
    "rg",
    {
      options: [..."nilcwFSvos"]
        .map((letter) => `-${letter}`)
        .concat("-A <number>", "-B <number>", "-C <number>", "-m <number>", "-g <text>", "-t <text>")
        .concat("--glob=<text>", "--type=<text>", "--no-heading", "--count", "--files-with-matches"),
      operands: "text-then-paths",
    },
    ["rg TODO", "rg -n 'a b' src -g '*.ts'", "rg -t ts -C 2 parse"],
    [
      "rg --pre id a",
      "rg --pre=id a",
      "rg --hostname-bin id a",
      "rg -z a",
      "rg -f x a",
      "rg -uuu a",
      "rg a /etc",
    ],
  ),
];

const SYSTEM: readonly AllowRule[] = [
  reads("pwd", {}, ["pwd"], ["pwd; id", "pwd -P"]),
  reads("true", {}, ["true"], ["true && id", "true x"]),
  reads("date", { options: ["-u"] }, ["date", "date -u"], ["date -s 12:00", "date 010112002030"]),
  reads("uname", { options: ["-a", "-s", "-m", "-r"] }, ["uname -a"], ["uname | sh"]),
  reads("which", { operands: "text" }, ["which node"], ["which $(id)", "which -a x"]),
  reads("echo", { operands: "text" }, ["echo done", "echo 'a b'"], ["echo $HOME", "echo a > b", "echo `id`"]),
  reads("node --version", {}, ["node --version"], ["node --version -e 1", "node -e 1", "node"]),
  reads("npm --version", {}, ["npm --version"], ["npm test", "npm --version x"]),
  reads("python3 --version", {}, ["python3 --version"], ["python3 -c 1", "python3"]),
];

/**
 * Commands that look at files of the working directory and at its git history, each with its examples. Files are named
 * relative to the directory. A rule cannot see where links lead, or what a program reads by its configuration. The
 * rules are meant for commands in a sandbox and are not a boundary.
 */
export const READ_ONLY_COMMANDS: readonly AllowRule[] = [...GIT, ...FILES, ...SEARCH, ...SYSTEM];
