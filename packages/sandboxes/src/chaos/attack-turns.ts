/** The commands and tool calls of the attacker. */
import type { Random } from "../../../checkpoint/src/chaos/random.ts";

/** Directories of the workspace that are exchanged for links. */
export const VICTIMS = [
  "n/x",
  "n",
  "src",
  "src/deep",
  "data",
  "large_tool_results",
  "conversation_history",
  ".claude",
];
/** Is there once names are being exchanged. */
export const READY = ".links/ready";
const NAMES = [
  "notes.txt",
  "authorized_keys",
  "config",
  "Makefile",
  "deep/notes.txt",
  "made.txt",
  ".git/config",
];

/**
 * A command that exchanges victims with links in one step (renameat2 with RENAME_EXCHANGE), for as long as it may run.
 * Links lead to `outside`, to its parent and to places below /proc.
 */
export function exchanging(outside: string, seed: number): string {
  const number = process.arch === "arm64" ? 276 : 316;
  return `mkdir -p .links
for at in ${VICTIMS.map((_, index) => index).join(" ")}; do ln -sfn '${outside}' .links/$at; done
for at in n/x src data; do mkdir -p $at/.git/hooks && echo '[core]' > $at/.git/config; done
mkdir -p src/deep/.vscode; echo 1 > ${READY}
exec perl -e '
srand(${seed});
my @victims = (${VICTIMS.map((name) => `q(${name})`).join(",")});
my @targets = (q(${outside}), q(../outside), q(../../outside), q(${outside}/deep), q(/proc/self/root${outside}), q(/proc/1/root${outside}));
while (1) {
  my $i = int(rand(@victims));
  if (rand() < 0.05) { my $t = $targets[int(rand(@targets))]; my $l = qq(.links/$i); if (-l $l) { unlink $l; symlink $t, $l; } }
  my ($from, $to) = (qq(.links/$i), $victims[$i]);
  syscall(${number}, -100, $from, -100, $to, 2);
  select(undef, undef, undef, rand() * 0.002) if rand() < 0.5;
  syscall(${number}, -100, $from, -100, $to, 2);
}'`;
}

export interface AttackSite {
  /** The workspace as file tools name it. */
  readonly root: string;
  readonly outside: string;
  readonly secret: string;
}

/** One call of a random tool, with a name that is being exchanged. */
export function attackTurn(
  random: Random,
  id: string,
  { root, outside, secret }: AttackSite,
): { id: string; name: string; args: Record<string, unknown> } {
  const name = `${random.pick(VICTIMS)}`;
  const place = `${root}/${name}`;
  const inner = `${name}/${random.pick(NAMES)}`;
  const file = `${root}/${inner}`;
  // The attacker knows the beginning only: an answer that holds the rest was read outside.
  const known = secret.slice(0, 7);
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ["ls", { path: place }],
    ["read_file", { file_path: file }],
    ["write_file", { file_path: file, content: `pwned ${id}\n` }],
    ["edit_file", { file_path: file, old_string: known, new_string: "PWNED" }],
    ["edit_file", { file_path: file, old_string: "inside", new_string: "Inside" }],
    ["delete", { file_path: file }],
    ["glob", { pattern: "**/*", path: place }],
    ["grep", { pattern: known, path: random.pick([root, place]) }],
    ...[1, 2, 3, 4].map(() => ["execute", { command: commandOf(random, inner, outside) }] as const),
  ];
  const [tool, args] = random.pick(calls);
  return { id, name: tool, args };
}

function commandOf(random: Random, file: string, outside: string): string {
  return random.pick([
    `cat ${VICTIMS.map((name) => `${name}/notes.txt ${name}/deep/notes.txt`).join(" ")} 2>&1`,
    `for at in ${VICTIMS.join(" ")}; do echo pwned >> $at/authorized_keys; echo pwned > $at/made.txt; done 2>&1`,
    `cat ${file} ${outside}/notes.txt /proc/1/root${outside}/notes.txt 2>&1`,
    `echo pwned >> ${file}; mkdir -p ${file}.d; ls -laR . | head -50`,
    `ln -sf ${outside} new-link; cat new-link/notes.txt; cp -r new-link copy 2>&1`,
    `git init -q n/y 2>&1; rm -rf n/y; ls -la ${outside} 2>&1`,
    `perl -e 'print q(x) x 200000'`,
  ]);
}
