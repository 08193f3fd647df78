import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { attack } from "./attack.ts";

const [isLinux, title] = [process.platform === "linux", "an attacker with two sandboxes on one directory"];

test.runIf(isLinux)(`${title} reads, changes and makes nothing outside`, async () => {
  const seed = Date.now() % 2 ** 31;
  const { calls, escapes } = await attack(sized(4, 60), seed);
  expect(escapes, `seed ${seed}`).toEqual([]);
  expect(calls).toBeGreaterThan(0);
});
