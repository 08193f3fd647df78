import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { leaseSuite } from "../testing.ts";
import { processProvider } from "./process-provider-for-tests.ts";

const root = mkdtempSync(join(tmpdir(), "lease-suite-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

leaseSuite(
  { describe, test },
  { name: "a provider of processes", provider: () => processProvider({ root }), endsByItself: 1 },
);
leaseSuite(
  { describe, test },
  {
    name: "a slow one that cannot find places again",
    provider: () => processProvider({ root, delay: 50, forgets: true }),
  },
);
