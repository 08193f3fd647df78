import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { buildPage } from "../../../../scripts/build-web.mjs";
import { directoryWith, runBinary, startBinary } from "../test-support/run-binary.ts";
import { isOfAnotherUser, listenersAt } from "./kept-token.ts";

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
  await running.shows(`For another: deepwright sign-in --url ${url}`);
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

const row = (address: string, user: number, state = "0A") =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 1234 1`;
const ANY6 = `${"0".repeat(32)}:07E8`;

test.each<[string, readonly string[], string, readonly number[]]>([
  ["the address itself", [row("0100007F:07E8", 7), row("00000000:07E8", 8)], "127.0.0.1", [7]],
  ["all addresses", [row("0501A8C0:07E8", 7), row(ANY6, 8)], "127.0.0.1", [8]],
  ["an address of a network", [row("0501A8C0:07E8", 7), row("0100007F:07E8", 8)], "192.168.1.5", [7]],
  ["IPv6", [row("00000000000000000000000001000000:07E8", 7)], "::1", [7]],
  ["another port", [row("0100007F:07E9", 7)], "127.0.0.1", []],
  ["a connection", [row("0100007F:07E8", 7, "01")], "127.0.0.1", []],
])("the user who listens is known by %s", (_, rows, host, users) => {
  expect(listenersAt(rows.join("\n"), host, 2024)).toEqual(users);
});

test("a program of one's own is not of another user, and addresses elsewhere are not judged", async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  expect(await isOfAnotherUser(`http://127.0.0.1:${port}`)).toBe(false);
  expect(await isOfAnotherUser("https://agents.example.org")).toBe(false);
  server.close();
});
