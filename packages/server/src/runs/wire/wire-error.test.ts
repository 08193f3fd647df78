import { homedir } from "node:os";
import { join } from "node:path";
import { holdSecrets, releaseSecrets } from "deepwright/secrets";
import { expect, test, vi } from "vitest";
import { createErrorWords, errorText, errorValue, logError } from "./wire-error.ts";

test.each([
  [
    "ENOENT: no such file or directory, open '/etc/ssl/my keys/a.pem'",
    "ENOENT: no such file or directory, open '…'",
  ],
  ["cannot open /var/lib/app/state.db: it is locked", "cannot open …: it is locked"],
  ["(/usr/bin/node) failed, see /home/ada/.npm/_logs/x.log.", "(…) failed, see …"],
  ["file:///opt/app/agent.mjs does not export an agent", "… does not export an agent"],
  ["C:\\Users\\ada\\agent.mjs failed", "… failed"],
  [`${join(homedir(), ".ssh/id")} is open`, "… is open"],
  [`${join(process.cwd(), "agents/a.mjs")} is broken`, "…/agents/a.mjs is broken"],
  [`import of '${join(process.cwd(), "node_modules/x/y.js")}'`, "import of '…'"],
  ["/notes.md and /src/app.ts are files of the thread", "/notes.md and /src/app.ts are files of the thread"],
  ["404 POST /v1/chat/completions", "404 POST /v1/chat/completions"],
  ["https://example.com/home/ada/x said no", "https://example.com/home/ada/x said no"],
  ["postgres://me:pass-word@db/agents is gone", "postgres://db/agents is gone"],
  ["look at this\n  at noon", "look at this\n  at noon"],
  ["boom\n    at run (/srv/a.js:1:2)\n    at async Promise.all (index 0)", "boom"],
  ["boom\n\nTypeError: boom\n    at file:///srv/a.js:1:2\n", "boom"],
  ["one\n\ntwo\n\nError: one\n\ntwo\n    at new X (<anonymous>)", "one\n\ntwo"],
])("%j is told as %j", (text, told) => {
  expect(errorText(text)).toBe(told);
});

test("however long an error is, its words are short", () => {
  const owner = {};
  holdSecrets(owner, [["a token", "held-secret-1234"]]);
  expect(errorText(`held-secret-1234 ${"x\n\n".repeat(1_000_000)}\n    at x (y:1:1)`)).toMatch(
    /^\[a token\] x/,
  );
  expect(errorText("\n\n".repeat(1_000_000))).toHaveLength(2_000);
  releaseSecrets(owner);
});

test("an error keeps the form it has", () => {
  const error = new TypeError("boom\n    at x (y:1:1)");
  expect(errorValue(error)).toEqual({ name: "TypeError", message: "boom" });
  expect(errorValue({ message: "boom", name: "E", stack: "x" })).toEqual({ name: "E", message: "boom" });
  expect(errorValue("boom")).toBe("boom");
  expect(errorValue(7)).toBe("7");
  expect([errorValue(undefined), errorValue(null)]).toEqual([undefined, null]);
  const words = createErrorWords({});
  expect(words(Object.assign(error, { code: "NO_ROOM" }))).toEqual({ error: "NO_ROOM", message: "boom" });
  expect(words(undefined)).toEqual({ error: "Error", message: "undefined" });
});

test("the log has the stacks of an error and its causes, and no secret", () => {
  const owner = {};
  holdSecrets(owner, [["a token", "held-secret-1234"]]);
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  logError(new Error("outer", { cause: new TypeError("inner held-secret-1234") }));
  const text = log.mock.calls.flat().join(" ");
  log.mockRestore();
  releaseSecrets(owner);
  expect(text).toMatch(/Error: outer\n\s+at .*\ncaused by TypeError: inner \[a token\]\n\s+at /s);
});
