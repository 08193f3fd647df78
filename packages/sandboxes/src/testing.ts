/** What `@deepwright/sandboxes/testing` offers: the conformance suite of providers. */
export { LEASE_SUITE_SIZE, leaseSuite } from "./lease/lease-suite.ts";
export type { LeaseSuiteOptions } from "./lease/lease-suite-case.ts";
