import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../scripts/test-time.ts";
import {
  addressSecrets,
  fieldSecrets,
  headerSecrets,
  holdSecrets,
  redactError,
  releaseSecrets,
  withoutSecrets,
} from "./secrets.ts";

it.each([
  ["a variable's value", "bad key abcdef123", { MY_API_KEY: "abcdef123" }, "bad key [MY_API_KEY]"],
  ["a short value could be any word", "the end of it", { TOKEN: "the end" }, "the end of it"],
  ["a variable without a value", "bad key undefined", { MY_API_KEY: undefined }, "bad key undefined"],
  ["a common word", "my Password", { TOKEN: "password" }, "my Password"],
  ["a variable that is no secret", "in /home/me", { HOME: "/home/me" }, "in /home/me"],
  ["the shape of a key", "Incorrect key sk-abcdefghijklmnop", {}, "Incorrect key [key]"],
  ["a password in an address", "no postgres://me:pass@host/db", {}, "no postgres://host/db"],
  ["the password of an address alone", "no hunter22", { DB: "postgres://me:hunter22@host/db" }, "no [DB]"],
  ["the longer of two", "abcdefgh12345", { A_KEY: "abcdefgh", B_KEY: "abcdefgh12345" }, "[B_KEY]"],
  ["as JSON writes it", String.raw`{"a":"se\"cret\n12"}`, { A_KEY: 'se"cret\n12' }, '{"a":"[A_KEY]"}'],
  ["as addresses write it", "?k=se%2Fcret%3D12", { A_KEY: "se/cret=12" }, "?k=[A_KEY]"],
])("%s", (_, text, environment, expected) => {
  expect(withoutSecrets(text, environment)).toBe(expected);
});

it.each([
  "GITHUB_TOKEN",
  "OPENAI_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "DB_PASSWORD",
  "MYSQL_PASSWD",
  "SMTP_PASS",
  "KEY_PASSPHRASE",
  "NPM_CONFIG__AUTH",
  "SESSION_COOKIE",
  "SENTRY_DSN",
  "GOOGLE_CREDENTIALS",
])("the value of %s is a secret", (name) => {
  expect(withoutSecrets("it is value-0815", { [name]: "value-0815" })).toBe(`it is [${name}]`);
});

it.each(["PATH", "PWD", "SSH_AUTH_SOCK", "COMPASS", "AUTHOR", "LANG"])("the value of %s is none", (name) => {
  expect(withoutSecrets("it is value-0815", { [name]: "value-0815" })).toBe("it is value-0815");
});

describe("withoutSecrets", () => {
  it.each([
    ["key sk-ant-api03-abcdefghijkl is bad", "key [key] is bad"],
    ["at https://user:pass@host/v1", "at https://host/v1"],
    ["at https://user:p@ss@host/v1", "at https://host/v1"],
    ["a db-password-1 inside", "a [DB_PASSWORD] inside"],
    ["nothing to hide", "nothing to hide"],
  ])("%s", (text, clean) => {
    expect(withoutSecrets(text, { DB_PASSWORD: "db-password-1", SHORT_KEY: "abc" })).toBe(clean);
  });

  it("takes no time for a long word, such as an image in an error", () => {
    const image = "QUJD".repeat(500_000);
    expect(withoutSecrets(image, {})).toBe(image);
  });
});

describe("configured secrets", () => {
  const clean = (text: string): string => withoutSecrets(text, {});

  it("are struck out until their owner releases them", () => {
    const [one, other] = [{}, {}];
    holdSecrets(one, [["token", "shared-0815"]]);
    holdSecrets(one, [["token", "later-0815"]]);
    holdSecrets(other, [["same", "shared-0815"]]);
    expect(clean("shared-0815 later-0815")).toMatch(/^\[(token|same)\] \[token\]$/);
    releaseSecrets(one);
    releaseSecrets(one);
    expect(clean("shared-0815 later-0815")).toBe("[same] later-0815");
    releaseSecrets(other);
    expect(clean("shared-0815")).toBe("shared-0815");
  });

  it("are forgotten with an owner nobody has any more", async () => {
    holdSecrets({}, [["token", "forgotten-0815"]]);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await eventually(() => {
      collect();
      expect(clean("forgotten-0815")).toBe("forgotten-0815");
    });
  });

  it("of headers: the value, and the credentials in it", () => {
    const headers = {
      Authorization: "Bearer abc-0815",
      "X-Team": "blue",
      Accept: "application/json, text/html",
    };
    expect(headerSecrets(headers)).toEqual([
      ["Authorization", "Bearer abc-0815"],
      ["Authorization", "abc-0815"],
    ]);
  });

  it("of a client: its key and its default headers", () => {
    const client = {
      apiKey: "abc-0815x",
      promptCacheKey: "thread-0815",
      options: { defaultHeaders: { "x-key": "def-0815" } },
    };
    expect(fieldSecrets(client)).toEqual([
      ["apiKey", "abc-0815x"],
      ["x-key", "def-0815"],
    ]);
  });

  it("of an address: its password", () => {
    expect(addressSecrets("db", "postgres://me:p@ss-0815@host/db")).toEqual([["db", "p@ss-0815"]]);
    expect(addressSecrets("db", "postgres://host/db")).toEqual([]);
  });
});

describe("an error", () => {
  it("loses the secrets in its words and those of its causes, and stays the same error", () => {
    const owner = {};
    holdSecrets(owner, [["token", "secret-0815"]]);
    const cause = new TypeError("in secret-0815");
    const error = new AggregateError([new Error("one secret-0815")], "all secret-0815", { cause });
    expect(redactError(error)).toBe(error);
    const words = [error.message, error.stack, cause.message, cause.stack, error.errors[0].message].join();
    expect(words).toContain("[token]");
    expect(words).not.toContain("secret-0815");
    expect(() => redactError(Object.freeze(new Error("secret-0815")))).not.toThrow();
    expect(redactError("secret-0815")).toBe("secret-0815");
    releaseSecrets(owner);
  });
});
