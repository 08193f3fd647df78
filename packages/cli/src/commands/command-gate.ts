/** Decides which commands need a person's approval. */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandRules } from "@deepwright/sandboxes/command-rules";
import type { InterruptOnConfig } from "deepwright";
import { isSecretPath } from "../run/secret-names.ts";
import type { CommandJudge } from "../settings/command-rules.ts";
import type { Commands } from "./commands.ts";

/**
 * In a sandbox, commands that only look at files and at the history need no question, unless they might show what is in
 * files made to hold keys, which the agent's own tools leave out: a search, a change of the history, a command that
 * names such a file. What is approved for longer holds in this `place` alone.
 */
export function commandGate(
  { kind, reach }: Pick<Commands, "kind" | "reach">,
  { directory, place, judge }: GatePlace,
): InterruptOnConfig {
  const every = { description: reach, rememberedFor: place };
  if (kind === "none" && judge === undefined) return every;
  let looking: Promise<Looking> | undefined;
  return {
    ...every,
    when: async ({ toolCall }) => {
      const settled = judge?.(String(toolCall.args.command))?.decision;
      if (settled !== undefined) return settled === "ask";
      if (kind === "none") return true;
      looking ??= openLooking();
      const { rules, showsUnnamed } = await looking;
      const { decision, words = [] } = rules.judge(String(toolCall.args.command));
      if (decision !== "allow" || showsUnnamed(words)) return true;
      if (words[0] === "diff" && !(await areFiles(words.slice(1), directory))) return true;
      return (await Promise.all(words.map((word) => namesSecret(word, directory)))).includes(true);
    },
  };
}

export interface GatePlace {
  readonly directory: string;
  readonly place: string;
  /** Rules of the settings. Commands they deny are not asked about: a middleware refuses them. */
  readonly judge?: CommandJudge | undefined;
}

interface Looking {
  readonly rules: CommandRules;
  showsUnnamed(words: readonly string[]): boolean;
}

/** Loaded with the first command. */
async function openLooking(): Promise<Looking> {
  const { lookingRules, showsUnnamed } = await import("./looking-rules.ts");
  return { rules: lookingRules(), showsUnnamed };
}

/** False for directories: `diff` of two directories shows the files that both have. */
async function areFiles(words: readonly string[], directory: string): Promise<boolean> {
  const isCount = (i: number): boolean => /^-\w*U$/.test(words[i - 1] ?? "");
  const operands = words.filter((word, i) => !word.startsWith("-") && !isCount(i));
  const found = await Promise.all(
    operands.map((name) =>
      stat(resolve(directory, name)).then(
        (file) => file.isFile(),
        () => false,
      ),
    ),
  );
  return !found.includes(false);
}

/** By the name that is given, also behind a revision as in `HEAD:.env`, and by the file it leads to. */
async function namesSecret(word: string, directory: string): Promise<boolean> {
  const names = word.split(":");
  const real = await Promise.all(names.map((name) => realpath(resolve(directory, name)).catch(() => name)));
  return [...names, ...real].some(isSecretPath);
}
