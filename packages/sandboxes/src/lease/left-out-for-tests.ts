/** Says in the report of a test run which cases of the lease suite a provider is not asked, and sees that there are no more. */
import { expect, test } from "vitest";
import type { DeclaredLeaseSuite } from "./lease-suite.ts";
import { NEEDS, type Need } from "./lease-suite-case.ts";

/** Cases left out for a provider with sandboxes of its own, and for one whose sandbox is the user's. */
export const OWN: readonly Need[] = [NEEDS.borrowedSandbox];
export const BORROWED: readonly Need[] = [NEEDS.ownSandboxes, NEEDS.find, NEEDS.destroy, NEEDS.ttl];

export function expectLeftOut({ asked, leftOut }: DeclaredLeaseSuite, needs: readonly Need[]): void {
  const reasons = new Set(leftOut.map(({ because }) => because));
  const list = leftOut.map(({ name, because }) => `'${name}', as ${because}`).join("; ");
  test(`${asked.length} cases are asked, ${leftOut.length} left out: ${list}`, () => {
    expect([...reasons].sort()).toEqual(needs.map(({ because }) => because).sort());
  });
}
