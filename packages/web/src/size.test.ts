import { expect, test } from "vitest";
import { buildPage, pageSizes } from "../../../scripts/build-web.mjs";

test("the built page stays small: 60 kB of gzip before the first message, 150 kB in all without languages", async () => {
  await buildPage();
  const { first, all } = pageSizes();
  expect(first).toBeLessThan(60_000);
  expect(all).toBeLessThan(150_000);
});
