/** Asks before something is lost. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { usageError } from "../command-error.ts";
import { safeText } from "./safe-text.ts";

export interface Person {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** False when the person says no. Where nobody can be asked it is wrong usage. */
export async function confirmed(question: string, { stdin, stderr }: Person): Promise<boolean> {
  if (!stdin.isTTY || !stderr.isTTY)
    throw usageError("Nobody can be asked here whether that is meant.", "Say so with --yes.");
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    // Ctrl-C and Ctrl-D close it without an answer.
    const closed = once(asking, "close").then(() => "");
    const answer = await Promise.race([asking.question(`${safeText(question)} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
