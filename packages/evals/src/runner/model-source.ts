/** Where the model of a trial comes from: a scripted one for each trial, or one live model for all. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { EvalCase } from "../format/eval-case.ts";
import { scriptFor } from "../policies/scripts.ts";
import type { Life } from "./crash.ts";
import { FaultyProvider } from "./faulty-provider.ts";

/** The model of one trial. */
export interface TrialModel {
  readonly model: BaseChatModel;
  /** Requests that a provider would refuse; 0 where nobody checks. */
  invalidRequests(): number;
}

export interface ModelSource {
  /** The name in reports. */
  readonly name: string;
  /** Whether cases need a script, and faults are made. */
  readonly scripted: boolean;
  /** `life` returns the process of the trial that is alive now. */
  open(given: EvalCase, life: () => Life): TrialModel | Promise<TrialModel>;
}

/** Level 0: each case is played by the behaviour that its script names. */
export const scriptedSource: ModelSource = {
  name: "scripted",
  scripted: true,
  open: (given, life) => {
    const provider = new FaultyProvider(scriptFor(given), given, life);
    return { model: provider.model, invalidRequests: () => provider.invalidRequests };
  },
};

/** Level 2: one chat model for all trials. */
export function liveSource(name: string, model: BaseChatModel): ModelSource {
  return { name, scripted: false, open: () => ({ model, invalidRequests: () => 0 }) };
}
