/** A backend may demand that a person agrees to every call of the agent it is given to: one that holds secrets does. */

/** By this name other packages know it. */
const DEMAND: unique symbol = Symbol.for("deepwright.approval-demand") as never;

/** The value says why. */
export interface WithApprovalDemand {
  readonly [DEMAND]?: string | undefined;
}

/** Why every call needs approval; undefined: there is no such need. */
export function approvalDemandOf(holder: unknown): string | undefined {
  if (holder === null || (typeof holder !== "object" && typeof holder !== "function")) return undefined;
  return (holder as WithApprovalDemand)[DEMAND];
}

/** The same demand, for whoever stands in front of one of the sources. */
export function sameDemand(...sources: readonly unknown[]): WithApprovalDemand {
  const why = sources.map(approvalDemandOf).find((one) => one !== undefined);
  return why === undefined ? {} : { [DEMAND]: why };
}
