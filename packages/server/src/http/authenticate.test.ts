import { expect, test } from "vitest";
import { type Authenticate, callerOf, tellingApart, tokenAuthentication, userOf } from "./authenticate.ts";
import { Problem } from "./problems.ts";

const request = (headers: Record<string, string> = {}) => new Request("http://x/", { headers });

test.each([
  ["the token", { authorization: "Bearer good" }, true],
  ["the token, written otherwise", { authorization: "bearer   good " }, true],
  ["the token as a key", { "x-api-key": "good" }, true],
  ["another token", { authorization: "Bearer bad" }, false],
  ["another scheme", { authorization: "Basic good" }, false],
  ["a longer token", { "x-api-key": "good1" }, false],
  ["nothing", {}, false],
])("a server with one token: %s", async (_, headers, isCaller) => {
  const caller = callerOf(tokenAuthentication("good"), request(headers as Record<string, string>));
  if (isCaller) expect(await caller).toEqual({ identity: "local" });
  else await expect(caller).rejects.toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
});

test.each<[string, Authenticate]>([
  ["nobody", () => undefined],
  ["no identity", () => ({}) as never],
  ["an empty identity", () => ({ identity: "" })],
  ["an identity that is a number", () => ({ identity: 7 }) as never],
  ["an identity that is too long", () => ({ identity: "x".repeat(257) })],
  ["an identity that is no text", () => ({ identity: "\ud800" })],
  ["an identity with a NUL", () => ({ identity: "a\0" })],
  [
    "a throw",
    () => {
      throw new Error("the directory of users is down");
    },
  ],
])("is refused with 401: %s", async (_, authenticate) => {
  await expect(callerOf(authenticate, request())).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
    details: { headers: { "www-authenticate": "Bearer" } },
  });
});

test("what authenticate throws as a problem is the answer; an identity of full length is taken", async () => {
  const problem = new Problem("FORBIDDEN", "not today");
  const authenticate = () => {
    throw problem;
  };
  await expect(callerOf(authenticate, request())).rejects.toBe(problem);
  const identity = "x".repeat(256);
  expect(await callerOf(() => ({ identity }), request())).toEqual({ identity });
});

test("no caller of a server that tells callers apart is the server itself, and the embedder hears of it once", async () => {
  const heard: unknown[] = [];
  let identity = "local";
  const authenticate = tellingApart(
    () => ({ identity }),
    (error) => heard.push(error),
  );
  for (const _ of [1, 2])
    await expect(callerOf(authenticate, request())).rejects.toMatchObject({ code: "FORBIDDEN", status: 403 });
  expect(heard).toMatchObject([{ code: "INVALID_OPTION" }]);
  identity = "ada";
  expect(await callerOf(authenticate, request())).toEqual({ identity: "ada" });
});

test("what is kept of a caller with a run: JSON of at most 16 KiB, beside the identity", () => {
  expect(userOf({ identity: "a" })).toBeUndefined();
  expect(userOf({ identity: "a", team: "red", at: new Date(0) })).toEqual({
    team: "red",
    at: "1970-01-01T00:00:00.000Z",
  });
  const text = "x".repeat(16 * 1024 - '{"t":""}'.length);
  expect(userOf({ identity: "a", t: text })).toEqual({ t: text });
  expect(() => userOf({ identity: "a", t: `${text}x` })).toThrow("16385 bytes of JSON; 16384 are kept");
  expect(() => userOf({ identity: "a", n: 1n })).toThrow("is not JSON");
});
