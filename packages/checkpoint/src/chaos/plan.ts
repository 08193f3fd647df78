/** Plans of runs in a worker, and the messages between workers and their parent. */

/** A run as plain data: the same plan gives the same messages in every process. */
export interface Plan {
  readonly thread: string;
  /** The person's message. */
  readonly text: string;
  /** Turns in which the model calls tools; in the one after them it speaks and the run ends. */
  readonly turns: number;
  readonly callsPerTurn?: number;
  /** Longest pauses of a tool and of the model, in milliseconds; each takes a random part of it. */
  readonly toolPause?: number;
  readonly modelPause?: number;
  /** Characters of a tool's result. */
  readonly resultLength?: number;
  /** A place (`turn.index` of a call, or `turn` for the model) where this process stays for ever. */
  readonly hangsAt?: string;
  /** A person must approve the calls. */
  readonly gated?: boolean;
}

export interface ClaimPlan {
  readonly mode: "queue" | "refuse";
  readonly ttl: number;
}

export type WorkerRequest =
  | {
      /** Begins the plan, or goes on where the last process stopped; a thread that is done stays as it is. */
      readonly act: "run";
      readonly plan: Plan;
      readonly claim: ClaimPlan;
      readonly log: string;
      /** `message` sends the text whatever is in the thread; `approve` answers the pending question. */
      readonly how?: "message" | "approve";
    }
  /** Results of tools that are in the thread or among its pending writes. */
  | { readonly act: "stored"; readonly thread: string }
  | { readonly act: "messages"; readonly thread: string }
  /** Begins to watch the event loop. */
  | { readonly act: "watch" }
  /** Longest stall since `watch`, in milliseconds. */
  | { readonly act: "stall" }
  /** Takes the write lock of a database and keeps it until `unlock`. */
  | { readonly act: "lock"; readonly path: string }
  | { readonly act: "unlock" }
  /** `ok`, or what `PRAGMA integrity_check` finds. */
  | { readonly act: "check"; readonly path: string }
  | { readonly act: "remove"; readonly path: string }
  /** Takes all space of a file system but `leave` bytes. */
  | { readonly act: "fill"; readonly path: string; readonly leave: number };

export interface WorkerResults {
  run: RunResult;
  stored: string[];
  messages: string[];
  watch: undefined;
  stall: number;
  lock: undefined;
  unlock: undefined;
  check: string;
  remove: undefined;
  fill: undefined;
}

export interface RunResult {
  /** One line a message. */
  readonly messages: string[];
  readonly interrupts: number;
}

export interface WorkerFailure {
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

export type WorkerReply =
  | { readonly id: "ready" }
  | { readonly id: number; readonly value?: unknown; readonly failure?: WorkerFailure };
