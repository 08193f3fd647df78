import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CERTIFICATE, CERTIFICATE_KEY } from "../test-support/certificate.ts";
import { directoryWith, runBinary, startBinary } from "../test-support/run-binary.ts";

const token = "a-token-of-the-environment";

function post(url: string, body: string): Promise<{ status: number; cookie: string }> {
  return new Promise((done, fail) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const sent = request(url, { method: "POST", headers, ca: CERTIFICATE, agent: false });
    sent.on("error", fail);
    sent.on("response", (answer) => {
      answer.resume();
      done({ status: answer.statusCode ?? 0, cookie: String(answer.headers["set-cookie"]) });
    });
    sent.end(body);
  });
}

test("over TLS, the link of serve and the link of pair each sign in one browser", async () => {
  const cwd = await directoryWith({
    "deepwright.config.mjs": `
      export default { agents: { none: () => { throw new Error("not asked"); } }, loadAgents: false, page: "page" };`,
    "page/index.html": "<!doctype html><title>page</title>",
    "cert.pem": CERTIFICATE,
    "key.pem": CERTIFICATE_KEY,
  });
  const env = { DEEPWRIGHT_SERVER_TOKEN: token };
  const args = ["serve", "deepwright.config.mjs", "--port", "0", "--cert", "cert.pem", "--key", "key.pem"];
  const running = startBinary(args, { cwd, env });
  let lines = "";
  running.child.stderr?.on("data", (text: string) => {
    lines += text;
  });
  onTestFinished(async () => {
    running.child.kill("SIGKILL");
    await running.result;
  });
  await running.shows("deepwright sign-in");
  const link = /Open (https:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+)\n/.exec(lines)?.[1] as string;
  const { origin, hash } = new URL(link);
  const enter = (code: string) => post(`${origin}/sign-in`, JSON.stringify({ code }));
  const entered = await enter(hash.slice("#code=".length));
  expect(entered).toMatchObject({ status: 204, cookie: expect.stringContaining("; Secure") });

  const pair = (...more: string[]) => runBinary(["pair", "--url", origin, ...more], { cwd, env });
  const paired = await pair("--cert", "cert.pem");
  expect(paired).toMatchObject({ code: 0 });
  expect(paired.stdout).toMatch(/[█▀▄]{5}/);
  expect(paired.stderr).not.toContain("Warning");
  const second = /#code=([\w-]+)/.exec(paired.stdout)?.[1] as string;
  expect((await enter(second)).status).toBe(204);
  expect((await enter(second)).status).toBe(401);
  expect((await pair()).stderr).toContain("No server answers");
});

test("what is missing is said: a server, its token, a certificate", async () => {
  const cwd = await directoryWith({ "not.pem": "nothing" });
  const pair = (args: string[], env: Record<string, string> = {}) =>
    runBinary(["pair", ...args], { cwd, env });
  const url = ["--url", "http://127.0.0.1:9"];
  expect(await pair(url)).toMatchObject({ code: 2, stderr: expect.stringContaining("no token") });
  const env = { DEEPWRIGHT_SERVER_TOKEN: token };
  expect((await pair(url, env)).stderr).toContain("No server answers at http://127.0.0.1:9");
  expect((await pair([...url, "--cert", "not.pem"], env)).stderr).toContain("not a certificate");
  expect((await pair(["--url", "ftp://a"], env)).code).toBe(2);
  await writeFile(join(cwd, "key.pem"), CERTIFICATE_KEY);
  const half = await runBinary(["serve", "--key", "key.pem"], { cwd, env });
  expect(half.stderr).toContain("--cert and --key belong together");
});
