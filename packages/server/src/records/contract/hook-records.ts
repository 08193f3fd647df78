/** Webhooks that wait, and how they went. */
import type { Owner } from "./owner.ts";

/**
 * The address at which a client of A2A hears of the ends of a task's runs, and the credentials that the server sends
 * with it.
 */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  readonly token?: string | undefined;
  readonly authentication?:
    | { readonly scheme: string; readonly credentials?: string | undefined }
    | undefined;
  /** The client speaks A2A 0.3. */
  readonly isOlder?: boolean;
}

/** The body is JSON text. With headers it is sent unchanged; otherwise the time is added to it. */
export interface NewHook {
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The address of a client that is called at the end of a run. */
export interface HookRecord {
  readonly runId: string;
  readonly url: string;
  readonly status: "waiting" | "delivered" | "failed";
  readonly attempts: number;
  /** The status of the last answer; null: none came. */
  readonly answer: number | null;
}

/** A call that is due; `attempts` includes this one. */
export interface DueHook extends HookRecord {
  readonly owner: Owner;
  /** Always the same, so that the other side can tell it came before. */
  readonly id: string;
  readonly body: string;
  readonly headers?: NewHook["headers"];
}

/** Owners and addresses that have had their share: their hooks wait. */
export interface PassedOver {
  readonly owners: readonly Owner[];
  readonly urls: readonly string[];
}

export interface HookRecords {
  /** Each is this caller's for so long, then anyone's. */
  take(limit: number, leaseMs: number, passedOver?: PassedOver): Promise<readonly DueHook[]>;
  /** How the attempt went; `againInMs` null: it is not tried again, and its body goes. */
  note(
    hook: DueHook,
    outcome: {
      readonly status: HookRecord["status"];
      readonly answer: number | null;
      readonly againInMs: number | null;
    },
  ): Promise<void>;
  /** Of all runs of the owner, the newest first. */
  newest(owner: Owner, limit: number): Promise<readonly HookRecord[]>;
  get(owner: Owner, runId: string): Promise<HookRecord | undefined>;
  /** Replaces the notifications of a run of A2A. Does nothing if the run does not exist. */
  setPush(owner: Owner, runId: string, push: PushConfig | null): Promise<void>;
}
