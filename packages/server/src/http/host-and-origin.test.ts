import { expect, test } from "vitest";
import { accessRules, checkAccess, preflightResponse } from "./host-and-origin.ts";
import { Problem } from "./problems.ts";

const doors = accessRules({
  allowedHosts: ["agents.example.com"],
  allowedOrigins: ["https://app.example.com", "http://localhost:5173"],
});

function status(
  headers: Record<string, string>,
  url = "http://127.0.0.1:2024/ok",
  target?: string,
): number | string | undefined {
  try {
    return checkAccess(doors, new Request(url, { headers }), target);
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return (error as Problem).status;
  }
}

test.each([
  ["localhost", undefined],
  ["LOCALHOST:2024", undefined],
  ["127.0.0.1:2024", undefined],
  ["[::1]:2024", undefined],
  ["agents.example.com", undefined],
  ["evil.com", 403],
  ["127.0.0.1.evil.com", 403],
  ["localhost.evil.com:2024", 403],
  ["agents.example.com.", 403],
  ["localhost@evil.com", 400],
  ["localhost:2024, evil.com", 400],
])("the Host %s is answered with %s", (host, expected) => {
  expect(status({ host })).toBe(expected);
});

test.each([
  ["http://127.0.0.1:2024", undefined],
  ["https://app.example.com", "https://app.example.com"],
  ["http://localhost:5173", "http://localhost:5173"],
  ["https://evil.com", 403],
  ["null", 403],
  ["http://localhost.evil.com", 403],
  ["http://localhost:1", 403],
  ["http://127.0.0.1", 403],
  ["http://app.example.com", 403],
  ["https://app.example.com.evil.com", 403],
])("the Origin %s is answered with %s", (origin, expected) => {
  expect(status({ host: "127.0.0.1:2024", origin })).toBe(expected);
});

test.each([
  ["localhost:2024", "http://localhost:2024/ok", undefined],
  ["localhost", "http://LOCALHOST:80/ok", undefined],
  ["localhost:443", "https://localhost/ok", undefined],
  ["localhost:2024", "http://localhost/ok", 400],
  ["localhost:2024", "http://evil.com/ok", 400],
  ["localhost:2024", "evil.com:80", 400],
  ["localhost:2024", "http://", 400],
  ["localhost:2024", "*", 400],
])("with the Host %s the address %s is answered with %s", (host, target, expected) => {
  expect(status({ host }, undefined, target)).toBe(expected);
});

test("a page of an allowed origin may send headers of its own, and nothing else becomes part of the answer", () => {
  const allowed = (requested: string | null) =>
    preflightResponse("https://app.example.com", requested).headers.get("access-control-allow-headers");
  expect(allowed(null)).toContain("x-api-key");
  expect(allowed("x-auth-scheme, X-Tenant, a b, x\u00e9, *")).toMatch(
    /, x-api-key, x-auth-scheme, x-tenant$/,
  );
});

test("what another site embeds is refused though it names no origin", () => {
  expect(status({ host: "127.0.0.1:2024", "sec-fetch-site": "cross-site" })).toBe(403);
  expect(status({ host: "127.0.0.1:2024", "sec-fetch-site": "same-origin" })).toBeUndefined();
});

test("an allowed origin must be one", () => {
  for (const origin of ["*", "app.example.com", "https://app.example.com/path", "null"])
    expect(() => accessRules({ allowedOrigins: [origin] })).toThrow(/origin/);
});
