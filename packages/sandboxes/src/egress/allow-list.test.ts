import { ConfigurationError } from "deepwright";
import { describe, expect, test } from "vitest";
import { parseAllowList } from "./allow-list.ts";
import { canonicalHost } from "./host-name.ts";

function allows(list: readonly string[], host: string, port = 443): boolean {
  const { value } = canonicalHost(host);
  return value !== undefined && parseAllowList(list).allows(value, port);
}

describe("SB-10 what allows nothing, and what is a mistake", () => {
  test("an empty list and an absent one allow nothing", () => {
    expect(allows([], "example.com")).toBe(false);
    expect(parseAllowList(undefined).allows("example.com", 443)).toBe(false);
  });

  test.each([
    ["*"],
    ["*."],
    ["*:443"],
    ["*.*"],
    ["**"],
    ["*.com"],
    ["api.*.com"],
    ["api*.example.com"],
    [""],
    [" "],
    ["example.com "],
    ["a.com,b.com"],
    ["example.com\0"],
    ["https://example.com"],
    ["example.com/path"],
    ["user@example.com"],
    ["127.0.0.1"],
    ["*.0.0.1"],
    ["10.0.0.0/8"],
    ["[::1]"],
    ["::1"],
    ["2130706433"],
    ["0x7f.1"],
    ["localhost"],
    ["*.localhost"],
    ["example.com:"],
    ["example.com:0"],
    ["example.com:99999"],
    ["example.com:*"],
    ["example.com:443:443"],
    [undefined as unknown as string],
    [/example/ as unknown as string],
  ])("the entry %j is a configuration error", (entry) => {
    expect(() => parseAllowList(["ok.example.com", entry])).toThrow(ConfigurationError);
  });

  test.each([["*"], ["*."], ["*:443"], ["*.*"], [""]])(
    "the entry %j is said to allow every host",
    (entry) => {
      expect(() => parseAllowList([entry])).toThrow("allows every host");
    },
  );

  test("a list that is not one is a configuration error", () => {
    expect(() => parseAllowList("example.com" as unknown as string[])).toThrow(ConfigurationError);
  });
});

describe("SB-11 a pattern covers names below it and nothing else", () => {
  test.each([
    ["a.example.com", true],
    ["a.b.example.com", true],
    ["A.EXAMPLE.COM.", true],
    ["example.com", false],
    ["evil-example.com", false],
    ["evilexample.com", false],
    ["example.com.evil.io", false],
    ["a.example.com.evil.io", false],
    ["evil.io\0.example.com", false],
    ["evil.io%00.example.com", false],
    ["evil.io#.example.com", false],
    ["93.184.216.34", false],
    ["", false],
  ])("*.example.com and %j: %j", (host, expected) => {
    expect(allows(["*.example.com"], host)).toBe(expected);
  });

  test("an exact name is that name alone", () => {
    expect(allows(["Example.com."], "example.com")).toBe(true);
    expect(allows(["example.com"], "www.example.com")).toBe(false);
    expect(allows(["bücher.example"], "xn--bcher-kva.example")).toBe(true);
  });
});

test("ports are 80 and 443 unless one is named", () => {
  expect([80, 443, 8443, 22].map((port) => allows(["example.com"], "example.com", port))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([443, 8443].map((port) => allows(["*.example.com:8443"], "a.example.com", port))).toEqual([
    false,
    true,
  ]);
  expect(allows(["example.com", "example.com:22"], "example.com", 22)).toBe(true);
  expect(parseAllowList(["example.com:22"]).names("example.com")).toBe(true);
});
