/** A place where agents run: a server in this process, or one elsewhere. */
import type { Threads } from "@deepwright/checkpoint";
import type { Client, Usage } from "@deepwright/protocol";
import type { AllowRule, ApprovalMode, ApprovalModes } from "@deepwright/server";
import type { ModelChoice } from "../../model/choice.ts";
import type { Effort } from "../../model/effort.ts";
import type { AskTrust } from "../../run/run-settings.ts";
import type { EditorParts } from "../../serve/own-agent.ts";
import type { UserCommand } from "../../user-files/user-commands.ts";
import type { Budget } from "./spending.ts";
import type { ThreadPast } from "./thread-past.ts";

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
  /** Steps of threads, and going back to them. */
  readonly past: ThreadPast;
  /** Whether the agent keeps to approval modes. */
  readonly hasModes: boolean;
  /** For how long more than one call can be allowed. */
  readonly rules: readonly RuleScope[];
  /** The budget of a run. */
  readonly budget: Budget;
  /** Dollars for tokens; undefined: the price is not known. Without a model: that of the place. */
  costOf(usage: Usage, model?: string): number | undefined;
  /** Tokens of parts of each request, estimated; undefined: not known. */
  sources(): Promise<RequestSources | undefined>;
  /** Names a thread. */
  rename(threadId: string, title: string): Promise<void>;
  /** Other models that a run can be begun with here; undefined: see `local`. */
  readonly models?: readonly string[];
  /** Abilities of a server in this process only. */
  readonly local?: LocalPlace;
  /** Safe twice. */
  close(): Promise<void>;
}

export type RuleScope = "thread" | "project";

export interface LocalPlace {
  /** The real path. */
  readonly directory: string;
  readonly choice: ModelChoice;
  readonly threads: Threads;
  readonly modes: ApprovalModes;
  readonly controlPaths: readonly string[];
  readonly skills: readonly string[];
  readonly memory: readonly string[];
  readonly mcp: readonly string[];
  /** Subagents that the person wrote as files. */
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  /** Makes a thread of the database known to the server. */
  adopt(threadId: string): Promise<void>;
  /** Commands that the person wrote as files. */
  readonly userCommands: readonly UserCommand[];
  /** A title for a conversation, written by the model; the offline model takes the first message. */
  titleOf(conversation: string): Promise<string>;
  /** Where commands run and what they may do; undefined: there are none. */
  readonly commandsLine: string | undefined;
  /** Runs a command in the sandbox; undefined: there are no commands. */
  readonly execute: ((command: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Keeps a permission for this directory. */
  remember(rule: AllowRule): Promise<void>;
  /** Takes a permission back, in this session and for later ones. */
  forget(rule: AllowRule): Promise<void>;
}

/** Parts of a request beside the conversation, in tokens. */
export interface RequestSources {
  /** Instructions without memory and skills. */
  readonly prompt: number;
  /** Definitions of tools, without those of MCP servers. */
  readonly tools: number;
  readonly mcp: number;
  /** Absent: not known. */
  readonly memory?: number;
}

export interface PlaceOptions {
  readonly directory: string;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly db?: string | undefined;
  readonly mode?: ApprovalMode | undefined;
  readonly mcp?: boolean;
  readonly effort?: Effort | undefined;
  /** MCP servers beside those of files and settings, by name. */
  readonly servers?: Readonly<Record<string, Record<string, unknown>>>;
  readonly editor?: EditorParts;
  /** Asks the person whether they trust settings of the project. Absent: nobody is asked, and such settings are an error. */
  readonly askTrust?: AskTrust | undefined;
}
