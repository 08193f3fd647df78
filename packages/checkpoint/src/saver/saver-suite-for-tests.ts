/** Tests that every saver of this package passes, on any storage. */
import { describe } from "vitest";
import { claimsSuite } from "./claims-suite-for-tests.ts";
import { deltaSuite } from "./delta-suite-for-tests.ts";
import { graphsSuite } from "./graphs-suite-for-tests.ts";
import { idsSuite } from "./ids-suite-for-tests.ts";
import { mutationSuite } from "./mutation-suite-for-tests.ts";
import { programsSuite } from "./programs-suite-for-tests.ts";
import { robustnessSuite } from "./robustness-suite-for-tests.ts";
import { SharedSaver } from "./shared-saver.ts";
import { sharingSuite } from "./sharing-suite-for-tests.ts";
import { spaceSuite } from "./space-suite-for-tests.ts";

export interface Subject {
  readonly open: () => Promise<SharedSaver>;
  /** The same threads in a saver that remembers nothing; the first one may be closed by it. */
  readonly reopen: (saver: SharedSaver) => Promise<SharedSaver>;
  /** How many random cases a property is tried with. */
  readonly runs: number;
  /** Whether `size` tells bytes of content, not of a file that grows in pages. */
  readonly exactSize: boolean;
  /** After whatever returns space has done so. */
  readonly size: (saver: SharedSaver) => Promise<number>;
}

export type SuiteOptions = Partial<Omit<Subject, "open">>;

export function saverSuite(name: string, open: Subject["open"], options: SuiteOptions = {}): void {
  const subject: Subject = {
    open,
    reopen: async (saver) => new SharedSaver(saver.storage),
    runs: 40,
    exactSize: false,
    size: (saver) => saver.size(),
    ...options,
  };
  describe(name, () => {
    mutationSuite(subject);
    programsSuite(subject);
    sharingSuite(subject);
    spaceSuite(subject);
    idsSuite(subject);
    robustnessSuite(subject);
    claimsSuite(subject);
    graphsSuite(subject);
    deltaSuite(subject);
  });
}
