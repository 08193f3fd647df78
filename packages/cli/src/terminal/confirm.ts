/** Asks before something is lost. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT } from "../exit-codes.ts";
import { safeText } from "./safe-text.ts";

export interface Person {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/** False when the person says no. Ctrl-C ends the command; where nobody can be asked it is wrong usage. */
export async function confirmed(question: string, { stdin, stderr }: Person): Promise<boolean> {
  if (!stdin.isTTY || !stderr.isTTY)
    throw usageError("This needs a confirmation, and no person can be asked here.", "Confirm with --yes.");
  const asking = createInterface({ input: stdin, output: stderr });
  let isInterrupted = false;
  asking.on("SIGINT", () => {
    isInterrupted = true;
    asking.close();
  });
  try {
    // Ctrl-C and Ctrl-D close it without an answer; some versions of Node then reject the question.
    const closed = once(asking, "close").then(() => "");
    let isAnswered = false;
    const answering = asking.question(`${safeText(question)} [y/N] `).then(
      (text) => {
        isAnswered = true;
        return text;
      },
      () => "",
    );
    const answer = await Promise.race([answering, closed]);
    if (!isAnswered) stderr.write("\n");
    if (isInterrupted) throw new CommandError("Nothing was changed.", { exitCode: EXIT.interrupted });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
