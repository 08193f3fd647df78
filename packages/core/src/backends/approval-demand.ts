/** A backend may demand that a person approves every call of its agent: a backend with secrets does. */
import { APPROVAL_DEMAND } from "../internal-symbols.ts";

/** The value is the reason. */
export interface WithApprovalDemand {
  readonly [APPROVAL_DEMAND]?: string | undefined;
}

/** The reason why every call needs approval; undefined: there is none. */
export function approvalDemandOf(holder: unknown): string | undefined {
  if (holder === null || (typeof holder !== "object" && typeof holder !== "function")) return undefined;
  return (holder as WithApprovalDemand)[APPROVAL_DEMAND];
}

/** Marks a backend, or a function that gives one; `why` is shown to developers. */
export function demandApproval<Source extends object>(
  source: Source,
  why: string,
): Source & WithApprovalDemand {
  return Object.defineProperty(source, APPROVAL_DEMAND, { value: why }) as Source & WithApprovalDemand;
}

/** The same demand, for a backend in front of one of the sources. */
export function sameDemand(...sources: readonly unknown[]): WithApprovalDemand {
  const why = sources.map(approvalDemandOf).find((one) => one !== undefined);
  return why === undefined ? {} : { [APPROVAL_DEMAND]: why };
}
