/** The suite that every database of the records passes. */
import { describe } from "vitest";
import type { ServerRecords } from "../records.ts";
import { backgroundSuite } from "./background-suite-for-tests.ts";
import { claimsSuite } from "./claims-suite-for-tests.ts";
import { eventsSuite } from "./events-suite-for-tests.ts";
import { givenBackSuite } from "./given-back-suite-for-tests.ts";
import { labelsSuite } from "./labels-suite-for-tests.ts";
import { listingsSuite } from "./listings-suite-for-tests.ts";
import { propertySuite } from "./property-suite-for-tests.ts";
import { runsSuite } from "./runs-suite-for-tests.ts";
import { scheduleSuite } from "./schedule-suite-for-tests.ts";
import { tasksSuite } from "./tasks-suite-for-tests.ts";
import { ticketsSuite } from "./tickets-suite-for-tests.ts";

export interface RecordsSite {
  /** The records all tests of a file share: tests use owners and threads of their own. */
  records(): ServerRecords;
  /** The same records opened again, as another process would. */
  again(): Promise<ServerRecords>;
  /** Changes rows behind the back of the records. */
  edit(sql: string): Promise<unknown>;
}

export function recordsSuite(name: string, site: RecordsSite): void {
  describe(name, () => {
    runsSuite(site);
    claimsSuite(site);
    givenBackSuite(site);
    eventsSuite(site);
    listingsSuite(site);
    labelsSuite(site);
    scheduleSuite(site);
    tasksSuite(site);
    backgroundSuite(site);
    ticketsSuite(site);
    propertySuite(site);
  });
}
