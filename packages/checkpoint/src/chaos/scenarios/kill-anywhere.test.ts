import { expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { inTest } from "../test-site.ts";
import { killAnywhere } from "./kill-anywhere.ts";

test("R-03 runs killed at random moments all finish, and what was finished is not done again", async () => {
  const outcome = await inTest((site) => killAnywhere(site, { runs: 2, kills: sized(4, 30), lanes: 2 }));
  expect(outcome.failures).toEqual([]);
  expect(outcome.ok).toBeGreaterThanOrEqual(2);
});
