import { expect, test } from "vitest";
import { killAnywhere } from "./kill-anywhere.ts";
import { inTest } from "./test-site.ts";

test("R-03 runs killed at random moments all finish, and what was finished is not done again", {
  timeout: 180_000,
}, async () => {
  const outcome = await inTest((site) => killAnywhere(site, { runs: 3, kills: 12, lanes: 2 }));
  expect(outcome).toMatchObject({ ok: 3, failures: [] });
});
