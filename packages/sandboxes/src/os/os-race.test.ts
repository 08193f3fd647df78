import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { scratchDirectory } from "./os-for-tests.ts";
import { raceSandboxes } from "./race-for-tests.ts";

it("SB-13 two sandboxes on one directory lead each other to nothing outside, whatever the one exchanges while the other is set up", async () => {
  const { commands, problems } = await raceSandboxes({
    directory: scratchDirectory(),
    seconds: sized(3, 60),
  });
  expect(problems).toEqual([]);
  expect(commands).toBeGreaterThan(0);
});
