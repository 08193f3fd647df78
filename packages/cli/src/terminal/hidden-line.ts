/** Asks for a line that is not shown while it is typed. */
import { CommandError } from "../command-error.ts";
import { EXIT } from "../exit-codes.ts";
import type { Person } from "./confirm.ts";
import { safeText } from "./safe-text.ts";

const MOST_CHARACTERS = 10_000;
const [CTRL_C, CTRL_D, DELETE] = ["\u0003", "\u0004", "\u007f"];
/** Marks that terminals put around a paste. */
const PASTE_MARKS = ["\u001b[200~", "\u001b[201~"];

/** Ctrl-C and Ctrl-D end the command. */
export async function hiddenLine(question: string, { stdin, stderr }: Person): Promise<string> {
  stderr.write(safeText(question));
  stdin.setRawMode(true);
  stdin.resume();
  stdin.setEncoding("utf8");
  try {
    return await new Promise<string>((resolve, reject) => {
      const line = new HiddenLine();
      const onData = (piece: string): void => {
        const state = line.type(piece);
        if (state === "typing") return;
        stdin.off("data", onData);
        if (state === "done") resolve(line.text);
        else reject(new CommandError("Nothing was stored.", { exitCode: EXIT.interrupted }));
      };
      stdin.on("data", onData);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

class HiddenLine {
  text = "";

  type(piece: string): "typing" | "done" | "left" {
    for (const key of PASTE_MARKS.reduce((text, mark) => text.replaceAll(mark, ""), piece)) {
      if (key === "\r" || key === "\n" || this.text.length > MOST_CHARACTERS) return "done";
      if (key === CTRL_C || key === CTRL_D) return "left";
      this.text = key === DELETE || key === "\b" ? this.text.slice(0, -1) : this.text + key;
    }
    return "typing";
  }
}
