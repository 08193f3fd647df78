/**
 * Two sandboxes on one directory. The commands of the first exchange directories with links that lead out of it, as
 * fast as they can; those of the second look for what is outside, and write to it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";

export interface Race {
  /** An empty directory, for the workspace and for what lies outside of it. */
  readonly directory: string;
  readonly seconds: number;
}

export interface RaceResult {
  /** Commands that were run. */
  readonly commands: number;
  /** Nothing got out where it is empty. */
  readonly problems: readonly string[];
}

const SECRET = "SECRET-OUTSIDE";
/** As homes have them: a file that steers other programs is among them. */
const HOME = ["secret", ".npmrc"];
/** The second sandbox looks for control files when it is opened. */
const COMMANDS_OF_ONE = 6;

/** The second sandbox is opened again and again, on the directory of the first. */
export async function raceSandboxes(race: Race): Promise<RaceResult> {
  return racing(race, "", async (options, isOver, attempt) => {
    while (!isOver()) {
      const second = await osSandbox(options).open({ key: "second", env: {} });
      try {
        for (let count = 0; count < COMMANDS_OF_ONE; count += 1) await attempt(second);
      } finally {
        await second.destroy();
      }
    }
  });
}

/** The directory of the second sandbox lies in that of the first, and is exchanged itself. */
export async function raceRoots(race: Race): Promise<RaceResult> {
  const inner = join(race.directory, "workspace/own/x");
  mkdirSync(inner, { recursive: true });
  const options = { rootDir: inner, stateDir: join(race.directory, "state") };
  const second = await osSandbox(options).open({ key: "second", env: {} });
  try {
    return await racing(race, "own", async (_, isOver, attempt) => {
      while (!isOver()) await attempt(second);
    });
  } finally {
    await second.destroy();
  }
}

type Options = { readonly rootDir: string; readonly stateDir: string };

/** `only` is the directory with the pair that is exchanged; `""`: one after the other. */
async function racing(
  { directory, seconds }: Race,
  only: string,
  use: (
    options: Options,
    isOver: () => boolean,
    attempt: (opened: OpenedSandbox) => Promise<void>,
  ) => Promise<void>,
): Promise<RaceResult> {
  const [rootDir, outside] = [join(directory, "workspace"), join(directory, "outside")];
  mkdirSync(rootDir, { recursive: true });
  mkdirSync(outside, { mode: 0o700 });
  for (const name of HOME) writeFileSync(join(outside, name), SECRET);
  writeFileSync(join(rootDir, "exchange.pl"), exchanges(outside));
  const options = { rootDir, stateDir: join(directory, "state") };
  const first = await osSandbox(options).open({ key: "first", env: {} });
  const exchanging = Promise.resolve(
    first.sandbox.execute(`perl exchange.pl ${only}`, { timeout: seconds + 600 }),
  );
  const problems = new Set<string>();
  let commands = 0;
  try {
    await Promise.race([exchanging, begun(rootDir)]);
    const end = performance.now() + seconds * 1000;
    const isOver = (): boolean => problems.size > 0 || performance.now() > end;
    await use(options, isOver, async (opened) => {
      const { ran, problem } = await reach(opened);
      if (ran) commands += 1;
      else await setTimeout(1);
      for (const one of [...(problem === undefined ? [] : [problem]), ...changes(outside)]) problems.add(one);
    });
  } finally {
    writeFileSync(join(rootDir, "stop"), "");
    // Notices about protected files may stand in the output: the watch sees a directory under another name.
    const { output, exitCode } = await exchanging;
    if (exitCode !== 0) problems.add(`the exchanges ended early: ${output}`);
    await first.destroy();
  }
  return { commands, problems: [...problems] };
}

/** A sandbox that is not set up for a race, or is lost, is as good as one that holds. */
const HELD = ["COMMAND_FAILED", "SANDBOX_LOST"];

/** Looks for files of the outside. */
async function reach({ sandbox }: OpenedSandbox): Promise<{ ran: boolean; problem?: string }> {
  const command =
    "for d in . n*/x n*/y n*/f; do cat $d/secret; mkdir $d/made; echo x > $d/planted; done 2>/dev/null; true";
  try {
    const { output } = await sandbox.execute(command, { timeout: 600 });
    return { ran: true, ...(output.includes(SECRET) && { problem: "a command has read what is outside" }) };
  } catch (error) {
    const isHeld = HELD.includes((error as { code?: string }).code ?? "");
    return { ran: false, ...(!isHeld && { problem: String(error) }) };
  }
}

function changes(outside: string): string[] {
  const made = readdirSync(outside).filter((name) => !HOME.includes(name));
  const changed = HOME.filter((name) => readFileSync(join(outside, name), "utf8") !== SECRET);
  return [...made, ...changed].map((name) => `'${name}' was made or changed outside`);
}

async function begun(rootDir: string): Promise<void> {
  while (!readdirSync(rootDir).includes("ready")) await setTimeout(20);
}

/**
 * A program that exchanges a directory with a link, or a file with one, at random moments: one pair for some hundred
 * times, then another. Links lead to the directory outside, or to where that is while `bwrap` sets a sandbox up.
 */
function exchanges(outside: string): string {
  const number = process.arch === "arm64" ? 276 : 316;
  return `use strict;
system("mkdir -p own/x n0/x n1/x n2/x/.git/hooks n3/f && touch n0/x/.npmrc n1/x/.npmrc n2/x/.git/config n3/f/.npmrc");
my @links = (["own/y", ""], ["n0/y", ""], ["n1/y", "/oldroot"], ["n2/y", ""], ["n3/f/npmrc", "/oldroot"]);
symlink("$_->[1]${outside}" . ($_->[0] =~ /npmrc/ ? "/made" : ""), $_->[0]) or die $! for @links;
open(my $ready, ">", "ready") or die $!;
my @pairs = @ARGV
  ? (["$ARGV[0]/x", "$ARGV[0]/y"])
  : (["n0/x", "n0/y"], ["n1/x", "n1/y"], ["n2/x", "n2/y"], ["n3/f/.npmrc", "n3/f/npmrc"]);
until (-e "stop") {
  my $pair = $pairs[rand @pairs];
  for (1 .. 100) {
    for (1 .. 2) { syscall(${number}, -100, $pair->[0], -100, $pair->[1], 2) == 0 or die $!; rest(rand 0.002); }
  }
}
sub rest { select(undef, undef, undef, $_[0]) }
`;
}
