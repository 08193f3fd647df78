/** Messages of the person to single subagents, until they are read. */
import type { Screen } from "@deepwright/protocol";

export interface ToldMessage {
  readonly namespace: string;
  readonly text: string;
}

export class ToldSubagents {
  private readonly waiting = new Map<string, ToldMessage>();

  get messages(): readonly ToldMessage[] {
    return [...this.waiting.values()];
  }

  add(id: string, message: ToldMessage): void {
    this.waiting.set(id, message);
  }

  remove(id: string): void {
    this.waiting.delete(id);
  }

  /** Forgets messages that were read. Returns those that cannot be read any more. */
  follow({ subagents }: Screen, isRunning: boolean): readonly ToldMessage[] {
    const lost: ToldMessage[] = [];
    for (const [id, message] of this.waiting) {
      const agent = subagents[message.namespace];
      const isRead = agent?.messages.some((one) => one.id === id) ?? false;
      const isOver = !isRunning || !agent || (agent.status !== "running" && agent.status !== "waiting");
      if (!isRead && !isOver) continue;
      this.waiting.delete(id);
      if (!isRead) lost.push(message);
    }
    return lost;
  }
}
