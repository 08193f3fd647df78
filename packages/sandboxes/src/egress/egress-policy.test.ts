import { ConfigurationError } from "deepwright";
import { expect, test } from "vitest";
import type { EgressOptions } from "./egress-options.ts";
import { checkEgressOptions, checkedEgress, sameHeader } from "./egress-policy.ts";

const HOST = "api.example.com";
const header = { host: HOST, header: "x-key", value: "secret" };

test.each<[string, unknown, RegExp]>([
  ["an option that is none", { alow: [HOST] }, /no option 'alow'/],
  ["a host that cannot be one", { inject: [{ ...header, host: "a b" }] }, /has a host that/],
  ["a host that is not allowed", { inject: [{ ...header, host: "b.example.com" }] }, /does not allow/],
  ["a header that is none", { inject: [{ ...header, header: "x key" }] }, /cannot be set/],
  ["a header of the connection", { inject: [{ ...header, header: "Host" }] }, /cannot be set/],
  ["one by another spelling", { inject: [{ ...header, header: "proxy_authorization" }] }, /cannot be set/],
  ["a value that is none", { inject: [{ ...header, value: "a\nb" }] }, /cannot be sent/],
  ["an empty value", { inject: [{ ...header, value: "" }] }, /cannot be sent/],
  ["a value that is no text", { inject: [{ ...header, value: 7 }] }, /cannot be sent/],
  ["a header twice", { inject: [header, { ...header, header: "X_Key" }] }, /twice for api\.example\.com/],
])("is refused: %s", (_, options, words) => {
  const given = { allow: [HOST], ...(options as object) } as EgressOptions;
  expect(() => checkEgressOptions(given)).toThrow(ConfigurationError);
  expect(() => checkEgressOptions(given)).toThrow(words);
  expect(() => checkedEgress(given)).toThrow(words);
});

test("headers are kept by host; the same one may go to two hosts", () => {
  const other = { ...header, host: "B.Example.com.", value: () => "made" };
  const more = { ...header, header: "x-more" };
  const { injected, allowList } = checkEgressOptions({
    allow: ["*.example.com"],
    inject: [header, more, other],
  });
  expect([...injected]).toEqual([
    [HOST, [header, more]],
    ["b.example.com", [other]],
  ]);
  expect(allowList.allows(HOST, 443)).toBe(true);
  expect(sameHeader("X_Key", "x-key")).toBe(true);
  expect(sameHeader("x-key", "x-key2")).toBe(false);
});

test("nothing is kept where nothing is allowed", () => {
  for (const options of [null, undefined, {}, { allow: [] }])
    expect(checkedEgress(options as EgressOptions)).toBeUndefined();
  const options = { allow: [HOST] };
  expect(checkedEgress(options)).toBe(options);
});
