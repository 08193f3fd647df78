import { SandboxError } from "deepwright";
import { expect, test } from "vitest";
import { loadVendor } from "./vendor.ts";

test("a package that is not installed is named with its install line", async () => {
  const name = "deepwright-has-no-such-package";
  const error = await loadVendor(name, () => import(name)).catch((thrown: unknown) => thrown);
  expect(SandboxError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining(`npm install ${name}`),
  });
});

test("a package that is there and fails is not taken for one that is missing", async () => {
  const broken = new Error("Cannot find package 'other' imported from somewhere");
  await expect(loadVendor("mine", () => Promise.reject(broken))).rejects.toBe(broken);
});
