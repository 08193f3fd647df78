/** The contract of harnesses under test. An adapter makes one agent; the runner does the rest. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { EvalCase } from "../format/eval-case.ts";

/** Everything an adapter needs to make an agent for one trial. */
export interface HarnessSetup {
  readonly case: EvalCase;
  readonly model: BaseChatModel;
  /** The files at the beginning of this thread. */
  readonly files: Readonly<Record<string, string>>;
  /** Tools of the case as LangChain tools. */
  readonly tools: readonly StructuredToolInterface[];
  /** Keeps the threads of the trial. */
  readonly checkpointer: BaseCheckpointSaver;
}

/** A compiled LangGraph graph with `messages`, and `files` where the harness has them. */
export interface HarnessAgent {
  invoke(input: unknown, config: RunnableConfig): Promise<unknown>;
  getState(config: RunnableConfig): Promise<unknown>;
}

export interface Harness {
  /** A short name for reports. */
  readonly name: string;
  /** The version that reports show. */
  readonly version?: string;
  create(setup: HarnessSetup): HarnessAgent | Promise<HarnessAgent>;
  /** Tidies up after a trial, such as a sandbox. */
  close?(agent: HarnessAgent): Promise<void>;
}
