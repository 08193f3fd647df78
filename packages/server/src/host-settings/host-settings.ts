/** Facts about the machine, for the one owner of a server on it. The program that starts the server provides it. */
import type { SharedSaver } from "@deepwright/checkpoint";
import type { AllowRule, CallExplanation, HostSettings, MemoryProposals } from "@deepwright/protocol";
import type { BackendProtocol } from "deepwright";

export interface SettingsOfHost {
  /** The real path of the directory that the agent works in. */
  readonly directory: string;
  /** As they are now. No value of a key is in them. */
  facts(): Promise<HostSettings>;
  explainPath(path: string, operation: "read" | "write"): Promise<CallExplanation>;
  explainCommand(command: string): Promise<CallExplanation>;
  /** False: the call was not allowed. Absent: permissions of the directory are not kept. */
  forgetAllowed?(rule: AllowRule): Promise<boolean>;
  /** Holds the memory files that `facts` lists, and nothing else. */
  readonly memory: BackendProtocol;
  /** Reviews threads of the agent and proposes changes of memory; changes nothing. */
  propose(context: ReviewContext): Promise<Pick<MemoryProposals, "message" | "conversations" | "files">>;
}

export interface ReviewContext {
  readonly saver: SharedSaver;
  /** Whether the agent worked on the thread last. */
  readonly isOfAgent: (threadId: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}
