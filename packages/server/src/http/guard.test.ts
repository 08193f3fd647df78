import { expect, test } from "vitest";
import { safeHeaders } from "./guard.ts";

test("every answer tells browsers to keep and guess nothing; what a route says itself stays", () => {
  const plain = safeHeaders(new Response("x"), undefined);
  expect(Object.fromEntries(plain.headers)).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(plain.headers.has("access-control-allow-origin")).toBe(false);
  const own = safeHeaders(
    new Response("x", { headers: { "cache-control": "max-age=5" } }),
    "https://a.example",
  );
  expect(own.headers.get("cache-control")).toBe("max-age=5");
  expect(own.headers.get("access-control-allow-origin")).toBe("https://a.example");
});
