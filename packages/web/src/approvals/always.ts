/** For how long a person does not want to be asked again about calls like this one. Pure. */
import type { CallQuestion } from "./questions.ts";
import type { Allowance, Rule } from "./rules.ts";
import { words } from "./words.ts";

export interface Always {
  readonly label: string;
  /** Undefined: exactly this call. */
  readonly allow: Allowance | undefined;
}

/** `npm test -- x` → `npm test`; one word for programs without subcommands. Not for commands with shell signs. */
function prefixOf(command: string): readonly string[] | undefined {
  if (/[;&|<>$`\\(){}*?[\]#~\n"']/.test(command)) return undefined;
  const [program, second] = command.trim().split(/\s+/);
  if (program === undefined || program === "" || program.includes("=")) return undefined;
  return second !== undefined && /^[a-z][a-z0-9:-]*$/.test(second) ? [program, second] : [program];
}

/** The first choice is exactly this call; the others need an agent that enforces rules. */
export function alwaysChoices({ tool, args }: CallQuestion, scopes: readonly string[]): readonly Always[] {
  const prefix = tool === "execute" ? prefixOf(String(args.command)) : undefined;
  const begin = prefix?.join(" ");
  const wide: Rule = { tool };
  const narrow: Rule = prefix === undefined ? wide : { tool, prefix };
  const all: (Always | false)[] = [
    { label: words.exactly, allow: undefined },
    scopes.includes("thread") &&
      begin !== undefined && { label: words.commandsInThread(begin), allow: { ...narrow, scope: "thread" } },
    scopes.includes("thread") && { label: words.allInThread(tool), allow: { ...wide, scope: "thread" } },
    scopes.includes("project") && {
      label: begin === undefined ? words.allInProject(tool) : words.commandsInProject(begin),
      allow: { ...narrow, scope: "project" },
    },
  ];
  return all.filter((one) => one !== false);
}
