import { expect, test } from "vitest";
import type { Problem } from "../problems.ts";
import { RateLimit } from "./rate-limit.ts";

function retryAfter(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Problem).details.headers?.["retry-after"];
  }
}

test("a caller may ask at once as often as the burst, then as often as the rate", () => {
  let now = 0;
  const limit = new RateLimit({ burst: 3, perSecond: 2 }, () => now);
  for (let i = 0; i < 3; i++) limit.take("a");
  expect(retryAfter(() => limit.take("a"))).toBe("1");
  limit.take("b");
  now = 500;
  limit.take("a");
  expect(retryAfter(() => limit.take("a"))).toBe("1");
});

test("of very many callers the one who asked longest ago is forgotten", () => {
  const limit = new RateLimit({ burst: 1, perSecond: 1 }, () => 0);
  for (let caller = 0; caller < 10_000; caller++) limit.take(`${caller}`);
  expect(retryAfter(() => limit.take("0"))).toBe("1");
  limit.take("one more");
  expect(retryAfter(() => limit.take("0"))).toBe("1");
  limit.take("1");
});

test("several at once count as several, and more than the burst are paid for afterwards", () => {
  let now = 0;
  const limit = new RateLimit({ burst: 10, perSecond: 1 }, () => now);
  limit.take("a", 25);
  expect(retryAfter(() => limit.take("a"))).toBe("16");
  now = 16_000;
  limit.take("a");
});
