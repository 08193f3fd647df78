/** Which commands a person is asked about. */
import type { InterruptOnConfig } from "deepwright";
import { isSecretPath } from "../run/secret-names.ts";
import type { Commands } from "./commands.ts";

/**
 * In a sandbox, commands that only look at files and at the history need no question. A search is asked about: it would
 * read the files made to hold keys, which the agent's own search leaves out; so is a command that names such a file.
 */
export async function commandGate({ kind, reach }: Commands): Promise<InterruptOnConfig> {
  if (kind === "none") return { description: reach };
  const { createCommandRules, READ_ONLY_COMMANDS } = await import("@deepwright/sandboxes/command-rules");
  const rules = createCommandRules(READ_ONLY_COMMANDS.filter(({ command }) => !SEARCHES.has(command)));
  return {
    description: reach,
    when: ({ toolCall }) => {
      const { decision, words = [] } = rules.judge(String(toolCall.args.command));
      return decision !== "allow" || words.some(namesSecret);
    },
  };
}

const SEARCHES: ReadonlySet<string> = new Set(["grep", "rg"]);

/** Also behind a revision, as in `HEAD:.env`. */
function namesSecret(word: string): boolean {
  return word.split(":").some(isSecretPath);
}
