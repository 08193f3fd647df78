/** Asks a person at the terminal for a line. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Person } from "./confirm.ts";

/** The person pressed Ctrl-C or Ctrl-D instead of answering. */
export class PersonLeft extends Error {
  constructor() {
    super("The person left.");
    this.name = "PersonLeft";
  }
}

/** How long what was typed before a question may take to arrive. */
const SETTLE_MS = 40;

export class Prompt {
  constructor(
    private readonly person: Person,
    private readonly signal: AbortSignal,
  ) {}

  /** `question` must be safe. `initial` can be edited. Throws PersonLeft, and what the signal was aborted with. */
  async line(question: string, initial = ""): Promise<string> {
    this.signal.throwIfAborted();
    const { stdin, stderr } = this.person;
    const asking = createInterface({ input: stdin, output: stderr, historySize: 0 });
    asking.on("SIGINT", () => asking.close());
    const onAbort = (): void => asking.close();
    this.signal.addEventListener("abort", onAbort, { once: true });
    try {
      // Closing it may or may not settle the question, depending on the version of Node.
      const closed = once(asking, "close").then(() => undefined);
      const answering = asking.question(question).catch(() => undefined);
      if (initial !== "") asking.write(initial);
      const answer = await Promise.race([answering, closed]);
      if (answer === undefined) stderr.write("\n");
      this.signal.throwIfAborted();
      if (answer === undefined) throw new PersonLeft();
      return answer;
    } finally {
      this.signal.removeEventListener("abort", onAbort);
      asking.close();
    }
  }

  /** The same, but what was typed before the question was there is no answer to it. */
  async freshLine(question: string): Promise<string> {
    await this.forgetTyped();
    return this.line(question);
  }

  private async forgetTyped(): Promise<void> {
    const { stdin } = this.person;
    let isLeft = false;
    const drop = (typed: string | Uint8Array): void => {
      isLeft ||= Buffer.from(typed).includes(0x03);
    };
    stdin.setRawMode?.(true);
    stdin.on("data", drop).resume();
    await sleep(SETTLE_MS);
    stdin.off("data", drop).pause();
    stdin.setRawMode?.(false);
    if (isLeft) throw new PersonLeft();
  }
}
