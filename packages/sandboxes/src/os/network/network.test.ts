import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import type { RequestListener } from "node:http";
import { dirname, join } from "node:path";
import { ConfigurationError } from "deepwright";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { loopbackParts, newAuthority, Opened } from "../../egress/egress-for-tests.ts";
import { openSandboxNetwork } from "./network.ts";
import { openTestNetwork, runIn } from "./network-for-tests.ts";

const HOST = "api.example.com";
const SECRET = "sk-very-secret-0123456789";
const INJECT = [{ host: HOST, header: "Authorization", value: `Bearer ${SECRET}` }];

/** A network to a host that is reached in the clear, and one with a header that is injected. */
async function injecting(opened: Opened, listener: RequestListener) {
  const authority = await newAuthority([HOST]);
  const port = await opened.https(authority, listener);
  const plain = await opened.http((request, response) => response.end(`plain ${request.url}`));
  return openTestNetwork(opened, {
    allow: [HOST, "plain.example.com"],
    inject: INJECT,
    authority,
    ports: { 443: port, 80: plain },
  });
}

describe("the bridge", () => {
  test.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["exit 255", 255],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
    ["kill -SEGV $$", 139],
    ["kill -USR1 $$", 138],
    ["kill -TERM 0", 143],
    ["kill -INT $PPID; exec sleep 600", 130],
    ["kill -TERM $PPID; exec sleep 600", 143],
    ["trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done", 9],
  ])("%s: exit code %i", async (command, exitCode) => {
    await using opened = new Opened();
    const network = await openTestNetwork(opened, { allow: [] });
    expect(await runIn(network, command)).toMatchObject({ exitCode, stdout: "" });
  });

  test("a program that is not there, or is none, has the exit codes of a shell", async () => {
    await using opened = new Opened();
    const network = await openTestNetwork(opened, { allow: [] });
    expect(await runIn(network, ["no-such-program"])).toMatchObject({
      exitCode: 127,
      stderr: "no-such-program: not found\n",
    });
    expect((await runIn(network, ["/etc/passwd"])).exitCode).toBe(126);
  });

  test("standard streams are the command's own, byte by byte", async () => {
    await using opened = new Opened();
    const network = await openTestNetwork(opened, { allow: [] });
    const input = randomBytes(2_000_000).toString("hex");
    const digest = createHash("sha256").update(input).digest("hex");
    const ran = await runIn(network, "tee /tmp/copy | sha256sum >&2; cat /tmp/copy", input);
    expect(ran.stderr.slice(0, 64)).toBe(digest);
    expect(createHash("sha256").update(ran.stdout).digest("hex")).toBe(digest);
  });

  test("it ends with the command, and with what the command left running", async () => {
    await using opened = new Opened();
    const network = await openTestNetwork(opened, { allow: [] });
    expect(await runIn(network, "sleep 600 >/dev/null 2>&1 </dev/null & echo left")).toMatchObject({
      stdout: "left\n",
    });
  });

  test("without a loopback the command is not run", async () => {
    await using opened = new Opened();
    const network = await openTestNetwork(opened, { allow: [] });
    const argv = network.argv.map((word) => (word === "3128" ? "70000" : word));
    const ran = await runIn({ ...network, argv }, "echo ran");
    expect(ran).toMatchObject({ stdout: "" });
    expect(ran.exitCode).not.toBe(0);
  });
});

describe("programs in the sandbox", () => {
  test("curl, Python, git and Node reach an allowed host, with a header they do not know", async () => {
    await using opened = new Opened();
    const seen: string[] = [];
    const network = await injecting(opened, ({ headers, url }, response) => {
      seen.push(`${url} ${headers.authorization}`);
      if (!url!.includes("info/refs")) return void response.end("welcome");
      response.end(`${"a".repeat(40)}\trefs/heads/main\n`);
    });
    const node = `
      const http = require("node:http"), https = require("node:https");
      const { hostname, port } = new URL(process.env.https_proxy);
      http.request({ hostname, port, method: "CONNECT", path: "${HOST}:443" })
        .on("connect", (_, socket) => https.get("https://${HOST}/node", { socket, agent: false },
          (answer) => answer.pipe(process.stdout)))
        .end();`;
    const python = `import urllib.request as r; print(r.urlopen("https://${HOST}/python").read().decode(), end="")`;
    const runs = await Promise.all([
      runIn(network, `curl -sS https://${HOST}/curl`),
      runIn(network, ["python3", "-c", python]),
      runIn(network, ["node", "-e", node]),
      runIn(network, `git ls-remote https://${HOST}/repository`),
      runIn(network, "curl -sS http://plain.example.com/x"),
      runIn(network, "curl -sS --proxy socks5h://127.0.0.1:3128 http://plain.example.com/socks"),
    ]);
    expect(runs.map(({ stdout, stderr }) => stdout + stderr)).toEqual([
      "welcome",
      "welcome",
      "welcome",
      `${"a".repeat(40)}\trefs/heads/main\n`,
      "plain /x",
      "plain /socks",
    ]);
    expect([...new Set(seen.map((line) => line.split(" ").slice(1).join(" ")))]).toEqual([
      `Bearer ${SECRET}`,
    ]);
    expect(seen.map((line) => line.split(/[ ?]/)[0])).toEqual(
      expect.arrayContaining(["/curl", "/python", "/node", "/repository/info/refs"]),
    );
  });

  test("SB-02 whatever is not on the list is refused with a reason, and nothing goes around the proxy", async () => {
    await using opened = new Opened();
    const port = await opened.http((_, response) => response.end("host"));
    const network = await openTestNetwork(opened, { allow: [HOST] });
    const output = async (command: string) => {
      const { stdout, stderr, exitCode } = await runIn(network, command);
      return `${exitCode} ${stdout}${stderr}`;
    };
    const direct = "import socket; s = socket.socket(); s.settimeout(300); s.connect(('1.1.1.1', 53))";
    const udp = "import socket; socket.socket(2, 2).sendto(b'x', ('1.1.1.1', 53))";
    const [http, https, socks, bypass, name, tcp, datagram, lookup, hosts] = await Promise.all([
      output("curl -sS http://evil.io/"),
      output("curl -sSv https://evil.io/"),
      output("curl -sS --proxy socks5h://127.0.0.1:3128 http://evil.io/"),
      output(`curl -sS --noproxy '*' --max-time 300 http://127.0.0.1:${port}/`),
      output("curl -sS --noproxy '*' --max-time 300 http://example.com/"),
      output(`python3 -c "${direct}"`),
      output(`python3 -c "${udp}"`),
      output("getent hosts example.com"),
      output("cat /proc/net/route | wc -l"),
    ]);
    expect(http).toBe("0 evil.io is not on the egress allow list\n");
    expect(https).toMatch(/^56 [\s\S]*403 evil\.io is not on the egress allow list/);
    expect(socks).toMatch(/^97 /);
    expect(bypass).toMatch(/^7 /);
    expect(name).toMatch(/^6 /);
    expect(tcp).toContain("Network is unreachable");
    expect(datagram).toContain("Network is unreachable");
    expect(lookup).toBe("2 ");
    expect(hosts).toBe("0 1\n");
    expect(network.lookups).toEqual([]);
  });

  test("the variables name the proxy, and the authority only where a header is injected", async () => {
    await using opened = new Opened();
    const plain = await openTestNetwork(opened, { allow: [HOST] });
    const { stdout } = await runIn(plain, "env");
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
      expect(stdout).toContain(`${name}=http://127.0.0.1:3128\n`);
    expect(stdout).toContain("NO_PROXY=localhost,127.0.0.1,::1\n");
    expect(stdout).not.toMatch(/CERT|CA/);
    const network = await injecting(opened, (_, response) => response.end());
    const trusting = (await runIn(
      network,
      "env; ls /run/deepwright-egress; tail -n1 $SSL_CERT_FILE; touch $SSL_CERT_FILE",
    )) as { stdout: string; stderr: string };
    for (const name of ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"])
      expect(trusting.stdout).toContain(`${name}=/run/deepwright-egress/ca-bundle.pem\n`);
    expect(trusting.stdout).toContain("NODE_EXTRA_CA_CERTS=/run/deepwright-egress/ca.pem\n");
    expect(trusting.stdout).toMatch(/END CERTIFICATE-----\n$/);
    expect(trusting.stderr).toContain("Read-only file system");
  });

  test("no secret is anywhere in the sandbox: not in a variable, a file, a process, an answer or on the disk outside", async () => {
    await using opened = new Opened();
    const network = await injecting(opened, ({ headers }, response) => response.end(JSON.stringify(headers)));
    const command = [
      `curl -sS -i https://${HOST}/echo; env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline`,
      "cat /run/deepwright-egress/*.pem /run/deepwright-egress/bridge.cjs",
      `curl -sS -X TRACE https://${HOST}/; curl -sS http://${HOST}/`,
    ].join("; ");
    const { stdout, stderr } = await runIn(network, command);
    expect(stdout).toContain(`"authorization":"Bearer ${"*".repeat(SECRET.length)}"`);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout + stderr).not.toContain("PRIVATE KEY");
    const directory = network.binds[0]!.from;
    const files = readdirSync(directory).filter((name) => name !== "socket");
    expect(files.sort()).toEqual(["bridge.cjs", "ca-bundle.pem", "ca.pem", "node"]);
    for (const name of files) {
      const content = readFileSync(join(directory, name), "utf8");
      expect(content).not.toContain(SECRET);
      expect(content).not.toContain("PRIVATE KEY");
    }
  });

  test("60 requests at once arrive, and a large answer is whole", async () => {
    await using opened = new Opened();
    const large = randomBytes(20_000_000);
    const plain = await opened.http(({ url }, response) => response.end(url === "/large" ? large : url));
    const network = await openTestNetwork(opened, { allow: [HOST], ports: { 80: plain } });
    const many = `curl -sS --parallel --parallel-max 60 "http://${HOST}/[1-60]" | tr / '\\n' | grep . | sort -u | wc -l`;
    expect((await runIn(network, many)).stdout.trim()).toBe("60");
    const { stdout } = await runIn(network, `curl -sS http://${HOST}/large | sha256sum`);
    expect(stdout.slice(0, 64)).toBe(createHash("sha256").update(large).digest("hex"));
  });

  test("without the proxy nothing is reached", async () => {
    await using opened = new Opened();
    let reached = 0;
    const plain = await opened.http((_, response) => {
      reached += 1;
      response.end("host");
    });
    const network = await openTestNetwork(opened, { allow: [HOST], ports: { 80: plain } });
    const { from: kept, to: socket } = network.binds[0]!;
    const curl = `curl -sS --max-time 300 http://${HOST}/`;
    const running = runIn(
      network,
      `${curl} >&2; while [ -e ${socket}/socket ]; do sleep 0.05; done; ${curl}`,
    );
    await until(() => reached === 1);
    await network.close();
    const { exitCode, stdout } = await running;
    expect(exitCode).not.toBe(0);
    expect(stdout).toBe("");
    expect(reached).toBe(1);
    expect(existsSync(kept)).toBe(false);
  });
});

describe("opening and closing", () => {
  test("the directory is private, and nothing is left after closing, which may be done twice", async () => {
    await using opened = new Opened();
    const directory = opened.directory();
    const network = await openSandboxNetwork({ allow: [HOST], inject: INJECT }, { directory });
    const [name] = readdirSync(directory);
    expect(statSync(join(directory, name!)).mode & 0o777).toBe(0o700);
    await Promise.all([network.close(), network.close()]);
    await network.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("what a killed process left is removed by the next one, and what is in use is not", async () => {
    await using opened = new Opened();
    const directory = opened.directory();
    const used = await openSandboxNetwork({ allow: [HOST] }, { directory });
    opened.add(used.close);
    const script = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
    const [killed, young] = [join(directory, "egress-killed"), join(directory, "egress-young")];
    for (const path of [killed, young]) mkdirSync(join(path, "in"), { recursive: true });
    spawnSync(process.execPath, ["-e", script, join(killed, "in/socket")]);
    expect(existsSync(join(killed, "in/socket"))).toBe(true);
    const longAgo = Date.now() / 1000 - 3600;
    for (const path of [killed, dirname(used.binds[0]!.from)]) utimesSync(path, longAgo, longAgo);
    const next = await openSandboxNetwork({ allow: [HOST] }, { directory });
    opened.add(next.close);
    expect([killed, young, used.binds[0]!.from].map((path) => existsSync(path))).toEqual([false, true, true]);
  });

  test("options that are not understood leave nothing", async () => {
    await using opened = new Opened();
    const directory = opened.directory();
    const inject = [{ host: "other.example.com", header: "authorization", value: SECRET }];
    for (const options of [{ allow: ["*"] }, { allow: [HOST], inject }])
      await expect(openSandboxNetwork(options, { directory })).rejects.toThrow(ConfigurationError);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a directory too deep for a socket is not in the way", async () => {
    await using opened = new Opened();
    const directory = join(opened.directory(), "deep".repeat(30));
    mkdirSync(directory);
    const plain = await opened.http((_, response) => response.end("ok"));
    const { parts } = loopbackParts({ ports: { 80: plain } });
    const network = await openSandboxNetwork({ allow: [HOST] }, { directory, parts });
    opened.add(network.close);
    expect((await runIn(network, `curl -sS http://${HOST}/`)).stdout).toBe("ok");
    await network.close();
    expect(existsSync(network.binds[0]!.from)).toBe(false);
  });
});
