/** Collects the parts of a run's stream that the report at the end needs. */
import { isRecord } from "deepwright/check-options";
import { depthOf, interruptsOf, isAi, messagesOf, type StreamPart, updatesOf } from "../stream-part.ts";

export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** The end of a run without an error; the kinds are those of the library's outcome. */
export interface Outcome {
  readonly kind: string;
  readonly detail?: string;
  /** Usage under the limit that was reached. */
  readonly used?: number;
  readonly allowed?: number;
}

export class Ledger {
  outcome: Outcome | undefined;
  private readonly open = new Map<unknown, unknown>();
  toolCalls = 0;
  private input = 0;
  private output = 0;
  /** Input tokens that came from a cache of the provider. */
  cached = 0;

  take(part: StreamPart): void {
    if (depthOf(part) === 0) this.wait(interruptsOf(part));
    if (part.type === "values" && depthOf(part) === 0) this.takeState(part.data);
    for (const update of updatesOf(part)) for (const message of messagesOf(update)) this.takeMessage(message);
  }

  /** Open questions to a person. */
  get pending(): readonly unknown[] {
    return [...this.open.values()];
  }

  wait(interrupts: readonly unknown[]): void {
    for (const interrupt of interrupts)
      this.open.set(isRecord(interrupt) ? interrupt.id : interrupt, interrupt);
  }

  /** Marks all questions as answered. Questions that are still open come again in the stream. */
  answered(): void {
    this.open.clear();
  }

  /** Summed over all agents; zero when no provider reported any. */
  get usage(): Usage {
    return { input: this.input, output: this.output };
  }

  private takeState(state: unknown): void {
    if (isRecord(state) && isRecord(state.outcome)) this.outcome = state.outcome as unknown as Outcome;
  }

  private takeMessage(message: ReturnType<typeof messagesOf>[number]): void {
    if (!isAi(message)) return;
    this.toolCalls += message.tool_calls?.length ?? 0;
    this.input += message.usage_metadata?.input_tokens ?? 0;
    this.output += message.usage_metadata?.output_tokens ?? 0;
    this.cached += message.usage_metadata?.input_token_details?.cache_read ?? 0;
  }
}
