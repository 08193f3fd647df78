/** Checks of several guards travel with one call: the backend that opens a path asks all of them. */
import { expect, it } from "vitest";
import type { FileError, OperationOptions } from "./backend.ts";
import {
  type OpenCheck,
  openCheckInside,
  openCheckOf,
  withOpenCheck,
  withoutOpenCheck,
} from "./open-check.ts";

const refused = (error: string): FileError => ({ error, code: "PERMISSION_DENIED" });

/** Refuses one path, and notes what it is asked. */
function closing(path: string, seen: string[] = []): OpenCheck {
  return {
    at: (real, asked) => {
      seen.push(`${asked} at ${real}`);
      return real === path ? refused(`${path} is closed`) : undefined;
    },
    found: (real) => (real === path ? refused(`${path} is closed`) : undefined),
  };
}

it("two guards: both must allow", async () => {
  const options = withOpenCheck(withOpenCheck({}, closing("/a")), closing("/b"));
  const check = openCheckOf(options) as OpenCheck;
  for (const path of ["/a", "/b"]) {
    expect(await check.at(path, path)).toEqual(refused(`${path} is closed`));
    expect(check.found?.(path)).toEqual(refused(`${path} is closed`));
  }
  expect(await check.at("/c", "/c")).toBeUndefined();
  expect(check.found?.("/c")).toBeUndefined();
});

it("one guard: its check goes along, with the rest of the options", () => {
  const signal = new AbortController().signal;
  const check = closing("/a");
  const options = withOpenCheck({ signal }, check);
  expect(openCheckOf(options)).toBe(check);
  expect(options.signal).toBe(signal);
  expect(openCheckOf(withOpenCheck(undefined, check))).toBe(check);
  expect(openCheckOf(undefined)).toBeUndefined();
});

it("the harness asks nobody", () => {
  const plain: OperationOptions = {};
  expect(withoutOpenCheck(plain)).toBe(plain);
  const signal = new AbortController().signal;
  const without = withoutOpenCheck(withOpenCheck({ signal }, closing("/a")));
  expect(openCheckOf(without)).toBeUndefined();
  expect(without.signal).toBe(signal);
});

it("behind a mount the check hears the outer names of paths", async () => {
  const outer = (path: string): string => `/mount${path}`;
  const seen: string[] = [];
  const options = openCheckInside(withOpenCheck({}, closing("/mount/a", seen)), outer);
  const check = openCheckOf(options) as OpenCheck;
  expect(await check.at("/a", "/link")).toEqual(refused("/mount/a is closed"));
  expect(await check.at("/b", "/b")).toBeUndefined();
  expect(check.found?.("/a")).toEqual(refused("/mount/a is closed"));
  expect(seen).toEqual(["/mount/link at /mount/a", "/mount/b at /mount/b"]);
  const plain: OperationOptions = {};
  expect(openCheckInside(plain, outer)).toBe(plain);
  expect(openCheckInside(undefined, outer)).toBeUndefined();
});
