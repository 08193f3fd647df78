/** the program at the top of docs/serve.md ends in time, also with a tool that knows nothing of ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TESTED = new URL("server-for-tests.ts", import.meta.url).href;

/** As it stands there, with an agent that needs no key, on any port, and with less time to come to rest. */
async function quickstart(): Promise<string> {
  const page = await readFile(join(ROOT, "docs/serve.md"), "utf8");
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const changed = program
    .replace(/createDeepAgent\(\{.*?\}\)/, "echoAgent()")
    .replace(/import .* from "deepwright";/, `import { echoAgent } from ${JSON.stringify(TESTED)};`)
    .replace("serve({", "serve({ port: 0, drainMs: 1_000,");
  expect(changed).toMatch(/echoAgent\(\)[\s\S]*SIGTERM/);
  return changed;
}

test("R-16 the program of the guide is gone soon after SIGTERM, while a tool sleeps on", async () => {
  const home = await mkdtemp(join(tmpdir(), "quickstart-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=source", "--input-type=module", "-e", await quickstart()],
    { cwd: ROOT, env: { ...env, HOME: home }, stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (more) => {
    said += more;
  });
  while (!/http:\S+\n/.test(said)) {
    expect(child.exitCode).toBeNull();
    await new Promise((go) => setTimeout(go, 50));
  }
  const [, token] = /token: (\S+)/.exec(said) ?? [];
  const [url] = /http:\S+/.exec(said) ?? [];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const input = { messages: [{ role: "user", content: "wait 3600000" }] };
  const body = JSON.stringify({ assistant_id: "research", input, stream_mode: "updates" });
  const stream = await fetch(`${url}/runs/stream`, { method: "POST", headers, body });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  // Its model has asked for the tool.
  for (let text = ""; !text.includes("event: updates"); ) text += (await reader?.read())?.value ?? "";
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  reader?.cancel().catch(() => {});
  expect(await ended).toEqual([0, null]);
});
