import { expect, onTestFinished, test } from "vitest";
import { type AppTerminal, startApp } from "../../test-support/app-terminal.ts";
import { providerServer } from "../../test-support/provider-server.ts";
import { directoryWith } from "../../test-support/run-binary.ts";

function plain(cwd: string, args: readonly string[], env: Record<string, string> = {}): AppTerminal {
  const terminal = startApp(args, { cwd, env });
  onTestFinished(() => void terminal.child.kill());
  return terminal;
}

test("lines: Ctrl-C stops the run, a failure is said, and a thread is chosen by its number", async () => {
  const cwd = await directoryWith({ "README.md": "# Demo\n" });
  let go = (): void => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  const server = await providerServer([
    { text: ["one ", "two ", "three ", "four "], hold },
    { status: 401, body: { error: { message: "Incorrect API key provided" } } },
  ]);
  onTestFinished(async () => {
    go();
    await server.close();
  });
  const model = ["--model", "openai:m1", "--base-url", `${server.url}/v1`];
  const env = { OPENAI_API_KEY: "key" };
  const first = plain(cwd, ["--plain", ...model], env);
  await first.press("ask> ", "count slowly\r");
  await first.press("› count slowly", "\x03");
  await first.press("■ Interrupted", "/mode plan\r");
  await first.press("plan> ", "and now\r");
  await first.sees("✘ ");
  await first.press("plan> ", "/quit\r");
  expect(await first.ended).toBe(0);
  const again = plain(cwd, ["-r", ...model], { ...env, TERM: "dumb" });
  await again.press("Number of the thread", "1\r");
  await again.press("› count slowly", "/quit\r");
  expect(await again.ended).toBe(0);
});
