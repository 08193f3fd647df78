/** How the work on a run ended. */
import type { RunStatus } from "@deepwright/protocol";
import type { RunRecord } from "../../records/records.ts";
import type { ShownEnd } from "../thread-view.ts";

/** `released`: the run is back in the queue; `lost`: another worker has it. */
export type RunEnd =
  | ({
      readonly kind: "finished";
      readonly status: RunStatus;
      readonly error?: RunRecord["error"];
      readonly rolledBack: boolean;
      /** The graph that ran; absent if the run ended before it was loaded. */
      readonly agent: string | undefined;
    } & ShownEnd)
  | { readonly kind: "released" }
  | { readonly kind: "lost" };
