import { expect, test } from "vitest";
import { DeepwrightError } from "./errors.ts";
import { SandboxError } from "./sandbox-error.ts";

test("a SandboxError has a message, a code and a cause, and is known by its mark", () => {
  const cause = new Error("gone");
  const error = new SandboxError("No answer.", "COMMAND_FAILED", cause);
  expect(error).toMatchObject({ name: "SandboxError", message: "No answer.", code: "COMMAND_FAILED", cause });
  expect(error).toBeInstanceOf(DeepwrightError);
  expect(SandboxError.isInstance(error)).toBe(true);
  expect(SandboxError.isInstance(cause)).toBe(false);
  expect(SandboxError.isInstance(null)).toBe(false);
  expect(new SandboxError("Mine.", "QUOTA").code).toBe("QUOTA");
});
