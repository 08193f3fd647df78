import { expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { scratchDirectory } from "./os-for-tests.ts";
import { raceRoots, raceSandboxes } from "./race-for-tests.ts";

it.each([
  ["exchanges what the other mounts", raceSandboxes],
  ["exchanges the directory of the other", raceRoots],
])(
  "SB-13 of two sandboxes one %s while it is set up, and nothing outside is read or changed",
  async (_, race) => {
    const { commands, problems } = await race({ directory: scratchDirectory(), seconds: sized(2, 60) });
    expect(problems).toEqual([]);
    expect(commands).toBeGreaterThan(0);
  },
);
