import { describe, expect, test } from "vitest";
import { checkedAddress, checkedLookup } from "./checked-address.ts";

const isRefused = (host: string, allowPrivate: boolean) =>
  "refused" in checkedAddress(`http://${host}/`, allowPrivate);

describe("an address where clouds keep credentials", () => {
  test.each([
    "169.254.169.254",
    "169.254.170.2",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "[::a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[2002:a9fe:a9fe::1]",
    "100.100.100.200",
    "[::ffff:100.100.100.200]",
    "[64:ff9b::6464:64c8]",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
  ])("is refused in any case: TR-07 %s", (host) => {
    expect([isRefused(host, false), isRefused(host, true)]).toEqual([true, true]);
  });
});

test.each([
  ["example.com", "http or https"],
  ["ftp://example.com/", "http or https"],
  ["file:///etc/passwd", "http or https"],
  ["http://me@example.com/", "name or password"],
  ["http://:word@example.com/", "name or password"],
  ["http://me:word@example.com/", "name or password"],
])("is no address to call: %s", (text, words) => {
  for (const allowPrivate of [false, true])
    expect(checkedAddress(text, allowPrivate)).toEqual({ refused: expect.stringContaining(words) });
});

test("private addresses are called where they are allowed, and public ones anywhere", () => {
  for (const host of ["127.0.0.1", "10.0.0.1", "[::1]", "[fd00::1]", "100.100.100.201", "localhost"])
    expect([host, isRefused(host, false), isRefused(host, true)]).toEqual([host, true, false]);
  for (const host of ["93.184.216.34", "[2606:4700::1111]", "example.com"])
    expect([host, isRefused(host, false), isRefused(host, true)]).toEqual([host, false, false]);
});

describe("every address of a name", () => {
  const PUBLIC = ["93.184.216.34", "2606:4700::1111"];
  const PRIVATE = ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "::ffff:127.0.0.1"];
  const CREDENTIALS = ["169.254.169.254", "fe80::1", "fd00:ec2::254"];
  const named = (addresses: readonly string[]) => async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  /** The addresses that would be dialled. */
  const dialled = (addresses: readonly string[], allowPrivate: boolean, all = true) =>
    new Promise<readonly unknown[] | "refused">((resolve) => {
      checkedLookup(allowPrivate, named(addresses))("a.name", { all }, (error, found) =>
        resolve(
          error ? "refused" : [found].flat().map((one) => (typeof one === "string" ? one : one.address)),
        ),
      );
    });

  test.each([...PRIVATE, ...CREDENTIALS])("must be allowed, not one of them: %s", async (bad) => {
    const mayBe = PRIVATE.includes(bad);
    for (const addresses of [[bad], [...PUBLIC, bad], [bad, ...PUBLIC]]) {
      expect(await dialled(addresses, false)).toBe("refused");
      expect(await dialled(addresses, true)).toEqual(mayBe ? addresses : "refused");
    }
  });

  test("is handed on as it was checked; a name without any is not dialled", async () => {
    expect(await dialled(PUBLIC, false)).toEqual(PUBLIC);
    expect(await dialled(PUBLIC, false, false)).toEqual(PUBLIC.slice(0, 1));
    expect(await dialled([], true)).toBe("refused");
  });
});
