/** The beginning of a command that a permission can be given for. Pure. */

/** `npm test -- x` → `npm test`; one word for programs without subcommands. Not for commands with shell signs. */
export function prefixOf(command: string): readonly string[] | undefined {
  if (/[;&|<>$`\\(){}*?[\]#~\n"']/.test(command)) return undefined;
  const [program, second] = command.trim().split(/\s+/);
  if (program === undefined || program === "" || program.includes("=")) return undefined;
  return second !== undefined && /^[a-z][a-z0-9:-]*$/.test(second) ? [program, second] : [program];
}
