/** The task, from the command line or from stdin. */
import { usageError } from "../command-error.ts";

export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
}

/** `words` as typed; `-` or nothing at all means stdin, unless that is a keyboard. */
export async function taskText(words: readonly string[], stdin: Input): Promise<string> {
  const typed = words.join(" ").trim();
  const asked = typed === "-";
  const reads = asked || (typed === "" && stdin.isTTY !== true);
  const task = reads ? await textOf(stdin) : typed;
  if (task !== "") return task;
  throw usageError(
    asked || reads ? "The task read from stdin is empty." : "There is no task.",
    'Say what to do: deepwright run "task"; see deepwright run --help.',
  );
}

async function textOf(stdin: Input): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stdin)
    text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  return (text + decoder.decode()).trim();
}
