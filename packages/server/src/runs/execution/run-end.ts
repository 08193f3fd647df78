/** How the work on a run ended. */
import type { RunStatus } from "@deepwright/protocol";
import type { RunRecord } from "../../records/records.ts";
import type { ThreadView } from "../thread-view.ts";

/** `released`: the run is back in the queue; `lost`: another worker has it. */
export type RunEnd =
  | ({
      readonly kind: "finished";
      readonly status: RunStatus;
      readonly error?: RunRecord["error"];
      readonly rolledBack: boolean;
    } & Partial<Pick<ThreadView, "values" | "interrupts">>)
  | { readonly kind: "released" }
  | { readonly kind: "lost" };
