import { expect, expectTypeOf, test } from "vitest";
import { SandboxError } from "./backends/sandbox-error.ts";
import { ConfigurationError, DeepwrightError, type ErrorCode } from "./errors.ts";

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

type RentCode = "RENT_DUE" | "EVICTED";

class RentError extends SandboxError {
  constructor(
    message: string,
    override readonly code: RentCode,
    override readonly cause?: Error,
  ) {
    super(message, code, cause);
  }
}

test("a subclass of SandboxError has codes of its own", () => {
  const error = new RentError("Pay.", "RENT_DUE");
  expectTypeOf(error.code).toEqualTypeOf<RentCode>();
  expect(error.code).toBe("RENT_DUE");
  expect(error instanceof DeepwrightError && SandboxError.isInstance(error)).toBe(true);
});

test("a ConfigurationError is known by its mark, and its code by its type", () => {
  const error: unknown = new ConfigurationError("INVALID_OPTION", "Wrong.", { hint: "Do better." });
  expect(ConfigurationError.isInstance(error)).toBe(true);
  for (const other of [new Error("x"), new DeepwrightError("INVALID_OPTION", "x"), null, undefined, "x"])
    expect(ConfigurationError.isInstance(other)).toBe(false);
  if (ConfigurationError.isInstance(error)) expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
});

test("a ConfigurationError also takes the message first, as deepagents does", () => {
  const cause = new Error("below");
  const theirs = new ConfigurationError("Names collide.", "TOOL_NAME_COLLISION", cause);
  expect(theirs).toMatchObject({ message: "Names collide.", code: "TOOL_NAME_COLLISION", cause });
  const ours = new ConfigurationError("TOOL_NAME_COLLISION", "Names collide.", { cause, hint: "Rename it." });
  expect(ours).toMatchObject({
    message: "Names collide. Rename it.",
    code: "TOOL_NAME_COLLISION",
    cause,
    hint: "Rename it.",
  });
});
