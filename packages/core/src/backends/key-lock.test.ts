import { expect, it } from "vitest";
import { KeyLock } from "./key-lock.ts";

it("work on one key waits for the work before it, also when that failed; other keys do not", async () => {
  const turns = new KeyLock();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const results = await Promise.allSettled([
    turns.take("a", work("first", true)),
    turns.take("a", work("second")),
    turns.take("b", work("other")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(log.indexOf("second begins")).toBeGreaterThan(log.indexOf("first ends"));
  expect(log.indexOf("other begins")).toBeLessThan(log.indexOf("first ends"));
  expect(await turns.take("a", work("third"))).toBe("third");
});
