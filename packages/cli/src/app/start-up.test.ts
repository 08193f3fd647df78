/** Ctrl-C at any moment of the start. Through the real program. */
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { directoryWith } from "../test-support/run-binary.ts";
import { startAtTerminal } from "../test-support/terminal.ts";

const STARTS = sized(4, 20);
const CTRL_C = "\x03";
/** SIGINT before the app has the keyboard, as the exit code of the test's terminal. */
const INTERRUPTED = 254;

test("Ctrl-C while the app starts ends it, and never in an abort of Node", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  for (let n = 0; n < STARTS; n += 1) {
    const terminal = startAtTerminal(["--model", "offline"], { cwd });
    onTestFinished(() => void terminal.child.kill());
    // From the first moment of the process to the time when it opens its database.
    await new Promise((resolve) => setTimeout(resolve, (n / STARTS) * 2_000));
    const pressing = setInterval(() => terminal.type(CTRL_C), 100);
    const code = await terminal.ended;
    clearInterval(pressing);
    expect([0, 130, INTERRUPTED]).toContain(code);
    expect(terminal.screen()).not.toMatch(/Napi::Error|FATAL|Aborted|terminate called/);
  }
});
