/** Checks for suites that run under any test framework: each throws a `SuiteFailure` that says what came. */
import type { FileError, FileErrorCode } from "../../backends/backend.ts";

export class SuiteFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SuiteFailure";
  }
}

type Result = { readonly error?: string | null | undefined };
export type Success<R extends Result> = Extract<R, { readonly error?: undefined }>;

export function ensure(condition: unknown, message: string): asserts condition {
  if (!condition) throw new SuiteFailure(message);
}

/** Deep equality of plain data and bytes; the order of keys does not count, and `undefined` is no key. */
export function same(actual: unknown, expected: unknown, what = "value"): void {
  const difference = differenceOf(actual, expected, what);
  if (difference !== undefined) throw new SuiteFailure(difference);
}

/** The result of something that had to work. */
export async function succeeded<R extends Result>(
  result: R | Promise<R>,
  what = "operation",
): Promise<Success<R>> {
  const settled = await result;
  ensure(settled.error === undefined, `${what} failed: ${show(settled)}`);
  return settled as Success<R>;
}

/** The error of something that had to be refused with one of `codes`. */
export async function refused(
  result: Result | Promise<Result>,
  codes: FileErrorCode | readonly FileErrorCode[],
  what = "operation",
): Promise<FileError> {
  const settled = (await result) as Partial<FileError>;
  const wanted: readonly unknown[] = typeof codes === "string" ? [codes] : codes;
  ensure(
    typeof settled.error === "string" && settled.error !== "" && wanted.includes(settled.code),
    `${what}: expected an error with code ${wanted.join(" or ")}, got ${show(settled)}`,
  );
  return settled as FileError;
}

/** Error that `action` threw; an action that does not throw is a failure. */
export async function thrown(action: () => unknown, what = "operation"): Promise<unknown> {
  let result: unknown;
  try {
    result = await action();
  } catch (error) {
    return error;
  }
  throw new SuiteFailure(`${what}: expected it to throw, got ${show(result)}`);
}

/** A value for a message: JSON, cut short, odd characters escaped. */
export function show(value: unknown): string {
  const text = value instanceof Uint8Array ? `bytes [${value.join(" ")}]` : (json(value) ?? String(value));
  const escaped = text.replace(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return escaped.length > 600 ? `${escaped.slice(0, 600)}…` : escaped;
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function differenceOf(actual: unknown, expected: unknown, at: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (!isObject(actual) || !isObject(expected) || Array.isArray(actual) !== Array.isArray(expected))
    return `${at}: expected ${show(expected)}, got ${show(actual)}`;
  if (expected instanceof Uint8Array || actual instanceof Uint8Array)
    return bytesDiffer(actual, expected, at);
  if (Array.isArray(actual) && actual.length !== (expected as unknown as unknown[]).length)
    return `${at}: expected ${show(expected)}, got ${show(actual)}`;
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const difference = differenceOf(actual[key], expected[key], `${at}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function bytesDiffer(actual: object, expected: object, at: string): string | undefined {
  const alike =
    actual instanceof Uint8Array &&
    expected instanceof Uint8Array &&
    actual.length === expected.length &&
    actual.every((byte, index) => byte === expected[index]);
  return alike ? undefined : `${at}: expected ${show(expected)}, got ${show(actual)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
