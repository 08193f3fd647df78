import { DeepwrightError } from "deepwright/errors";
import { expect, test } from "vitest";
import { ConnectionLost, failureKind, storageError } from "./failure.ts";

const failure = (code: string, message = "it failed") => Object.assign(new Error(message), { code });

test.each([
  ["57P01", "away", "STORAGE_UNAVAILABLE"],
  ["57P03", "away", "STORAGE_UNAVAILABLE"],
  ["08006", "away", "STORAGE_UNAVAILABLE"],
  ["53300", "away", "STORAGE_UNAVAILABLE"],
  ["25006", "away", "STORAGE_UNAVAILABLE"],
  ["ECONNRESET", "away", "STORAGE_UNAVAILABLE"],
  ["EPIPE", "away", "STORAGE_UNAVAILABLE"],
  ["40001", "conflict", "STORAGE_BUSY"],
  ["40P01", "conflict", "STORAGE_BUSY"],
  ["23505", "conflict", "STORAGE_BUSY"],
  ["57014", "final", "STORAGE_BUSY"],
  ["53100", "final", "STORAGE_FULL"],
  ["28P01", "final", "STORAGE_UNAVAILABLE"],
  ["3D000", "final", "STORAGE_UNAVAILABLE"],
  ["42501", "final", "STORAGE_UNAVAILABLE"],
])("%s is %s and in the end %s", (code, kind, told) => {
  expect(failureKind(failure(code), true)).toBe(kind);
  expect(storageError(failure(code), "here")).toMatchObject({ code: told });
});

test("a host without a name is a mistake at first and an outage later", () => {
  expect(failureKind(failure("ENOTFOUND"), false)).toBe("final");
  expect(failureKind(failure("ENOTFOUND"), true)).toBe("away");
});

test("a lost connection is an outage, whatever its last words", () => {
  expect(failureKind(new ConnectionLost(failure("XX000")), true)).toBe("away");
});

test("what is ours or nobody's stays as it is", () => {
  for (const error of [
    new DeepwrightError("THREAD_BUSY", "busy"),
    failure("42601", "syntax error"),
    "text",
  ]) {
    expect(failureKind(error, true)).toBe("final");
    expect(storageError(error, "here")).toBe(error);
  }
});
