import { expect, test } from "vitest";
import { inTest } from "../test-site.ts";
import { lockedFile } from "./locked-file.ts";

test("R-07 a file that another process has locked stops its run for so long, and nothing else", async () => {
  const outcome = await inTest((site) => lockedFile(site, { seconds: 1 }));
  expect(outcome).toMatchObject({ ok: 1, failures: [] });
});
