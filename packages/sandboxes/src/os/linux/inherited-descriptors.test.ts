import { closeSync, openSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { withoutInherited } from "./inherited-descriptors.ts";

it("descriptors that a program does not get anyway are left alone", () => {
  const own = openSync("/dev/null", "r");
  onTestFinished(() => closeSync(own));
  const handed = withoutInherited([], 0);
  expect(handed[own - 3]).toBeUndefined();
  expect(Object.keys(handed)).not.toContain("-1");
  expect(withoutInherited([own], 0)[0]).toBe(own);
});
