/** A place where agents run: a server in this process, or one elsewhere. */
import type { Threads } from "@deepwright/checkpoint";
import type { Client } from "@deepwright/protocol";
import type { AllowRule, ApprovalMode, ApprovalModes } from "@deepwright/server";
import type { UserCommand } from "../../user-files/user-commands.ts";

export interface Place {
  readonly client: Client;
  readonly assistant: string;
  /** The model, for the status line. */
  readonly model: string;
  /** It is a fixed routine and not a model. */
  readonly isOffline: boolean;
  readonly sandbox: string;
  /** Tokens of the model's window; undefined: not known. */
  readonly window?: number | undefined;
  /** The mode that the settings name; undefined: none. */
  readonly mode?: ApprovalMode | undefined;
  /** Lines a person reads at the start. */
  readonly notices: readonly string[];
  /** Abilities of a server in this process only. */
  readonly local?: LocalPlace;
  /** Safe twice. */
  close(): Promise<void>;
}

export interface LocalPlace {
  /** The real path. */
  readonly directory: string;
  readonly threads: Threads;
  readonly modes: ApprovalModes;
  readonly controlPaths: readonly string[];
  readonly skills: readonly string[];
  readonly memory: readonly string[];
  readonly mcp: readonly string[];
  /** Makes a thread of the database known to the server. */
  adopt(threadId: string): Promise<void>;
  /** Commands that the person wrote as files. */
  readonly userCommands: readonly UserCommand[];
  /** Dollars for tokens; undefined: the price of the model is not known. */
  costOf(usage: { readonly input: number; readonly output: number }): number | undefined;
  /** The budget of a run from the settings, in words; undefined: none. */
  readonly budget: string | undefined;
  /** Runs a command in the sandbox; undefined: there are no commands. */
  readonly execute: ((command: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Keeps a permission for this directory. */
  remember(rule: AllowRule): Promise<void>;
}

export interface PlaceOptions {
  readonly directory: string;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly db?: string | undefined;
  readonly mode?: ApprovalMode | undefined;
  readonly mcp?: boolean;
}
