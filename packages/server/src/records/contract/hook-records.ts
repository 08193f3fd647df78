/** Webhooks that wait, and how they went. */
import type { Owner } from "./owner.ts";

/** The address of a client that is told of the end of a run. */
export interface HookRecord {
  readonly runId: string;
  readonly url: string;
  readonly status: "waiting" | "delivered" | "failed";
  readonly attempts: number;
  /** The status of the last answer; null: none came. */
  readonly answer: number | null;
}

/** One whose time has come; `attempts` counts this one. */
export interface DueHook extends HookRecord {
  readonly owner: Owner;
  /** Always the same, so that the other side can tell it came before. */
  readonly id: string;
  readonly body: string;
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
  get(owner: Owner, runId: string): Promise<HookRecord | undefined>;
}
