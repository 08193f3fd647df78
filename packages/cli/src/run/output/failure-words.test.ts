import { DeepwrightError } from "deepwright";
import { describe, expect, it } from "vitest";
import { CommandError } from "../../command-error.ts";
import type { ModelChoice } from "../../model/choice.ts";
import { failureWords } from "./failure-words.ts";

const CHOICE: ModelChoice = {
  kind: "provider",
  provider: "openai",
  model: "x",
  keyName: "OPENAI_API_KEY",
  reason: "",
};

function words(error: unknown): string {
  return failureWords(error, CHOICE, { OPENAI_API_KEY: "my-own-key-value" });
}

class APIConnectionError extends Error {}
const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

describe("failureWords", () => {
  it.each([
    [
      "the provider's own words, without the key",
      Object.assign(new Error('401 {"error":{}}'), {
        status: 401,
        error: { error: { message: "no my-own-key-value" } },
      }),
      "the provider refused the key (HTTP 401): no [OPENAI_API_KEY]. Check OPENAI_API_KEY.",
    ],
    [
      "a status in a cause",
      new Error("wrapped", { cause: Object.assign(new Error("slow"), { status_code: 429 }) }),
      "too many requests, or no quota left (HTTP 429): wrapped. Try again later, or choose another model with --model.",
    ],
    [
      "a server that is down",
      new TypeError("fetch failed", { cause: refused }),
      "the model's server cannot be reached (ECONNREFUSED). Is it running? Check --base-url.",
    ],
    [
      "a connection error of OpenAI's library that hides its code",
      new APIConnectionError("Connection error.", {
        cause: new TypeError("fetch failed", { cause: new Error("bad port") }),
      }),
      "the model's server cannot be reached (bad port). Is it running? Check --base-url.",
    ],
    [
      "a connection error of Google's library, only words",
      new Error("[GoogleGenerativeAI Error]: Error fetching from http://127.0.0.1:9/x: fetch failed"),
      "the model's server cannot be reached (fetch failed). Is it running? Check --base-url.",
    ],
    [
      "a problem of the provider",
      Object.assign(new Error("boom"), { status: 503 }),
      "the provider has a problem (HTTP 503): boom",
    ],
    [
      "a price that is not known, with what can be limited and a model that has one",
      new DeepwrightError("PRICE_UNKNOWN", "The price is not known.", { hint: "In code." }),
      "The price is not known. Limit it with --max-tokens or --max-steps in place of --max-cost. The price of openai:gpt-5.2 is known.",
    ],
    ["a command error with its hint", new CommandError("No x.", { hint: "Do y." }), "No x. Do y."],
    ["control characters", new Error("a\x1b[2J\nb"), "a\\x1b[2J b"],
    ["a string", "thrown words", "thrown words"],
    ["an error without words", new RangeError(), "RangeError"],
  ])("%s", (_, error, expected) => {
    expect(words(error)).toBe(expected);
  });

  it("long errors are cut", () => {
    expect(words(new Error("x".repeat(5_000))).length).toBeLessThan(700);
  });
});
