import { inspect } from "node:util";
import { SandboxError } from "deepwright";
import { describe, expect, test } from "vitest";
import { isNotFound, vendorCall, vendorError } from "./vendor-errors.ts";

const KEY = "sk_live_0123456789abcdef0123456789";
const context = {
  vendor: "Acme",
  action: "run a command",
  keyHint: "Set ACME_KEY.",
  secrets: [KEY, undefined],
};
const sandbox = { ...context, aboutSandbox: true };

function failure(fields: object, message = "no"): Error {
  return Object.assign(new Error(message), fields);
}

describe("the code of a vendor's failure", () => {
  test.each([
    ["a refused key", failure({ status: 401 }), context, "ACCESS_DENIED"],
    ["a forbidden action", failure({ statusCode: 403 }), sandbox, "ACCESS_DENIED"],
    ["too many requests", failure({ status: 429 }), sandbox, "QUOTA_EXCEEDED"],
    ["a bill", failure({ status: 402 }), context, "QUOTA_EXCEEDED"],
    [
      "a limit that is called forbidden",
      failure({ status: 403 }, "Total CPU limit exceeded"),
      context,
      "QUOTA_EXCEEDED",
    ],
    ["a sandbox that is not found", failure({ response: { status: 404 } }), sandbox, "SANDBOX_LOST"],
    ["a sandbox that is gone", failure({ $metadata: { httpStatusCode: 410 } }), sandbox, "SANDBOX_LOST"],
    [
      "a sandbox that is said to be over",
      failure({ status: 400 }, "Sandbox abc has been terminated"),
      sandbox,
      "SANDBOX_LOST",
    ],
    ["an image that is not found", failure({ status: 404 }), context, "SANDBOX_UNAVAILABLE"],
    ["a request that is not understood", failure({ status: 422 }), sandbox, "COMMAND_FAILED"],
    ["a server that fails", failure({ status: 503 }), sandbox, "SANDBOX_UNAVAILABLE"],
    ["a connection that breaks", failure({ code: "ECONNRESET" }), sandbox, "SANDBOX_UNAVAILABLE"],
    ["a deadline of the vendor", failure({ status: 504 }), sandbox, "COMMAND_TIMEOUT"],
    ["gRPC's NOT_FOUND", failure({ code: 5 }), sandbox, "SANDBOX_LOST"],
    ["gRPC's UNAUTHENTICATED", failure({ code: 16 }), context, "ACCESS_DENIED"],
    ["what is no error", "boom", context, "SANDBOX_UNAVAILABLE"],
    ["nothing at all", undefined, context, "SANDBOX_UNAVAILABLE"],
  ])("%s", (_, error, about, code) => {
    const made = vendorError(error, about);
    expect([made.code, SandboxError.isInstance(made)]).toEqual([code, true]);
    expect(made.message).toMatch(/^Acme could not run a command.*\. \S/s);
  });
});

test("no key is shown, not in the message, not in the cause, not in what a log prints", () => {
  const error = failure(
    { status: 400, config: { headers: { Authorization: `Bearer ${KEY}` } }, response: { status: 400 } },
    `bad request: Authorization: Bearer abcdefghijkl, key ${KEY}, api_key=zyxwvutsrq, dtn_0123456789abcdef0123456789`,
  );
  const shown = inspect(vendorError(error, context), { depth: 10 });
  for (const secret of [KEY, "abcdefghijkl", "zyxwvutsrq", "dtn_0123456789abcdef0123456789"])
    expect(shown).not.toContain(secret);
  expect(shown).toContain("[redacted]");
});

test("a long message of many lines becomes one short line", () => {
  const { message } = vendorError(
    failure({ status: 500 }, `first\n\u001b[31msecond ${"x ".repeat(2000)}`),
    context,
  );
  expect([message.includes("\n"), message.includes("\u001b")]).toEqual([false, false]);
  expect(message.length).toBeLessThan(500);
});

test("our own errors and reasons of aborts pass", async () => {
  const ours = new SandboxError("ours", "SANDBOX_LOST");
  expect(vendorError(ours, context)).toBe(ours);
  const reason = new Error("enough");
  const controller = new AbortController();
  const call = vendorCall(
    context,
    async () => {
      controller.abort(reason);
      throw failure({ status: 500 });
    },
    controller.signal,
  );
  await expect(call).rejects.toBe(reason);
});

test("not found is known in all its forms", () => {
  expect([{ status: 404 }, { statusCode: 410 }, { code: 5 }, { status: 500 }, {}].map(isNotFound)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
