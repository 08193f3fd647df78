import { describe, expect, it } from "vitest";
import { withoutSecrets } from "./secrets.ts";

it.each([
  ["a variable's value", "bad key abcdef123", { MY_API_KEY: "abcdef123" }, "bad key [MY_API_KEY]"],
  ["a short value could be any word", "the end", { TOKEN: "the" }, "the end"],
  ["a variable that is no secret", "in /home/me", { HOME: "/home/me" }, "in /home/me"],
  ["the shape of a key", "Incorrect key sk-abcdefghijklmnop", {}, "Incorrect key [key]"],
  ["a password in an address", "no postgres://me:pass@host/db", {}, "no postgres://host/db"],
])("%s", (_, text, environment, expected) => {
  expect(withoutSecrets(text, environment)).toBe(expected);
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
