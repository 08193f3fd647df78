import { describe, expect, test } from "vitest";
import { canonicalHost, parseAuthority, parsePort, printable } from "./host-name.ts";

describe("canonicalHost", () => {
  test.each([
    ["api.example.com", "api.example.com"],
    ["API.Example.COM", "api.example.com"],
    ["api.example.com.", "api.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["api。example。com", "api.example.com"],
    ["_service.example.com", "_service.example.com"],
    ["a-1.example.com", "a-1.example.com"],
  ])("%j is %j", (text, host) => {
    expect(canonicalHost(text)).toEqual({ value: host });
  });

  test.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "1.2.3.4.",
    "a.0x1",
    "example.1",
    "[::1]",
    "[::ffff:7f00:1]",
    "::1",
    "fe80::1%eth0",
    "127.0.0.1",
    "①②⑦.⓪.⓪.①",
  ])("TR-07 the address %j is no name", (text) => {
    expect(canonicalHost(text).refusal).toBeTypeOf("string");
  });

  test.each([
    "",
    ".",
    "..",
    "a..b",
    ".example.com",
    "example.com..",
    "evil.io\0.example.com",
    "evil.io\r\n.example.com",
    "evil.io .example.com",
    "evil.io\t.example.com",
    "evil%2eio.example.com",
    "user@example.com",
    "example.com/..",
    "example.com\\@evil.io",
    "example.com?x",
    "example.com#x",
    "-a.example.com",
    "a-.example.com",
    "a*b.example.com",
    "xn--a.example.com",
    `${"a".repeat(64)}.example.com`,
    `${"a.".repeat(130)}com`,
    "\u{fffd}.example.com",
    "evil\u200b\u0000.com",
  ])("SB-11 %j is no name", (text) => {
    expect(canonicalHost(text).refusal).toBeTypeOf("string");
  });
});

describe("parseAuthority", () => {
  test.each([
    ["example.com:443", undefined, { host: "example.com", port: 443 }],
    ["example.com", 80, { host: "example.com", port: 80 }],
    ["example.com.:8443", 80, { host: "example.com", port: 8443 }],
    [Buffer.from("bücher.example").toString("latin1"), 80, { host: "xn--bcher-kva.example", port: 80 }],
  ])("%j with default %j is %j", (text, port, value) => {
    expect(parseAuthority(text, port)).toEqual({ value });
  });

  test.each([
    "example.com",
    "example.com:",
    "example.com:0",
    "example.com:65536",
    "example.com:080",
    "example.com:+80",
    "example.com:0x50",
    "example.com: 80",
    "example.com:80:80",
    "ok@127.0.0.1:80",
    "example.com@evil.io:80",
    "[::1]:80",
    "::1:80",
    ":80",
  ])("%j is refused", (text) => {
    expect(parseAuthority(text).refusal).toBeTypeOf("string");
  });
});

test("a port is digits from 1 to 65535", () => {
  expect(["1", "65535", "65536", "", "-1", "1e3"].map(parsePort)).toEqual([
    1,
    65_535,
    ...Array(4).fill(undefined),
  ]);
});

test("text from a sandbox loses what a terminal or a status line would act upon", () => {
  expect(printable("a\x1b[2Jb\r\nc d\u202e")).toBe("a?[2Jb??c?d?");
  expect(printable("x".repeat(500))).toHaveLength(123);
});
