/** Which commands a person is asked about. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandRules } from "@deepwright/sandboxes/command-rules";
import type { InterruptOnConfig } from "deepwright";
import { isSecretPath } from "../run/secret-names.ts";
import type { Commands } from "./commands.ts";

/**
 * In a sandbox, commands that only look at files and at the history need no question. A search is asked about: it would
 * read the files made to hold keys, which the agent's own search leaves out; so is a command that names such a file.
 */
export function commandGate({ kind, reach }: Commands, directory: string): InterruptOnConfig {
  if (kind === "none") return { description: reach };
  let rules: Promise<CommandRules> | undefined;
  return {
    description: reach,
    when: async ({ toolCall }) => {
      rules ??= lookingRules();
      const { decision, words = [] } = (await rules).judge(String(toolCall.args.command));
      if (decision !== "allow") return true;
      return (await Promise.all(words.map((word) => namesSecret(word, directory)))).includes(true);
    },
  };
}

/** Loaded with the first command. */
async function lookingRules(): Promise<CommandRules> {
  const { createCommandRules, READ_ONLY_COMMANDS } = await import("@deepwright/sandboxes/command-rules");
  return createCommandRules(READ_ONLY_COMMANDS.filter(({ command }) => !SEARCHES.has(command)));
}

const SEARCHES: ReadonlySet<string> = new Set(["grep", "rg"]);

/** By the name that is given, also behind a revision as in `HEAD:.env`, and by the file it leads to. */
async function namesSecret(word: string, directory: string): Promise<boolean> {
  const names = word.split(":");
  const real = await Promise.all(names.map((name) => realpath(resolve(directory, name)).catch(() => name)));
  return [...names, ...real].some(isSecretPath);
}
