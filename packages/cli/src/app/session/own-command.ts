/** The command that the person runs with `!`, while it works. */
import type { Work } from "../view/panes.ts";
import type { Session } from "./session.ts";

export interface OwnCommand {
  readonly words: string;
  readonly since: number;
  isStopping: boolean;
  stop(): void;
}

export class OwnCommands {
  current: OwnCommand | undefined;

  constructor(private readonly onChange: () => void) {}

  /** The command works until the returned function is called. */
  begin(words: string, stop: () => void): () => void {
    const command: OwnCommand = { words, since: Date.now(), isStopping: false, stop };
    this.current = command;
    this.onChange();
    return () => {
      if (this.current === command) this.current = undefined;
      this.onChange();
    };
  }

  stop(): void {
    if (!this.current) return;
    this.current.isStopping = true;
    this.current.stop();
  }
}

/** What the spinner stands for: the agent, or the person's own command. Undefined: nothing works. */
export function workOf(session: Session | undefined, command: OwnCommand | undefined): Work | undefined {
  if (session?.startedAt) {
    const elapsed = Date.now() - session.startedAt;
    return { elapsed, isInterrupting: session.isInterrupting, tokens: session.screen.usage.total };
  }
  if (!command) return undefined;
  const { since, isStopping, words } = command;
  return { elapsed: Date.now() - since, isInterrupting: isStopping, tokens: 0, command: words };
}
