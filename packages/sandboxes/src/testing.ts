/** Entry of `@deepwright/sandboxes/testing`: the conformance suite of providers. */
export {
  type DeclaredLeaseSuite,
  LEASE_SUITE_SIZE,
  type LeftOutCase,
  leaseSuite,
} from "./lease/lease-suite.ts";
export type { LeaseSuiteOptions } from "./lease/lease-suite-case.ts";
