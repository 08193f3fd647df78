import { expect, onTestFinished, test } from "vitest";
import { buildPage } from "../../../../scripts/build-web.mjs";
import { directoryWith, runBinary, startBinary } from "../test-support/run-binary.ts";

test("serve shows the page and a link that signs a browser in; sign-in prints another one", async () => {
  await buildPage();
  const cwd = await directoryWith({});
  const home = await directoryWith({});
  const env = { DEEPWRIGHT_HOME: home };
  const running = startBinary(["serve", "--port", "0", "--no-mcp", "--model", "offline"], { cwd, env });
  let lines = "";
  running.child.stderr?.on("data", (text: string) => {
    lines += text;
  });
  onTestFinished(async () => {
    running.child.kill("SIGKILL");
    await running.result;
  });
  await running.shows("#code=");
  const [, url = "", code] = /Open (\S+)\/#code=(\S+)/.exec(lines) ?? [];
  expect(await (await fetch(url)).text()).toContain('<div id="app">');
  const enter = (given: string | undefined) =>
    fetch(`${url}/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ code: given }),
    });
  const first = await enter(code);
  expect([first.status, first.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("HttpOnly")]);
  expect((await enter(code)).status).toBe(401);
  const printed = await runBinary(["sign-in", "--url", url], { cwd, env });
  expect((await enter(printed.stdout.trim().split("#code=")[1])).status).toBe(204);
  const away = await runBinary(["sign-in", "--url", "http://127.0.0.1:1"], { cwd, env });
  expect(away.stderr).toContain("deepwright serve");
});
