/**
 * Egress as an application has it: the published packages, `createSandbox`, and names that this machine resolves to
 * public addresses. These are in a network of the test's own, in which they lead to its servers.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { scratchDirectory } from "./os-for-tests.ts";

const PUBLIC = "93.184.216.34";
const SECRET = "sk-very-secret-0123456789";
const HOSTS = `127.0.0.1 localhost
${PUBLIC} api.example.com plain.example.com other.example.com
10.1.2.3 private.example.com
127.0.0.1 inner.example.com
`;

/** Where `@deepwright/sandboxes` is, as it is published. */
let published: string;
beforeAll(async () => {
  const main = await (await fetch(`${process.env.TEST_BROKER}/program`)).text();
  published = join(main, "../../../sandboxes/dist");
});

const HOST = `
import { createServer as http } from "node:http";
import { createServer as https } from "node:https";
import { readFileSync } from "node:fs";
const [published, stateDir, certificate, address, secret] = process.argv.slice(2);
const { createSandbox } = await import(published + "/index.js");
const { osSandbox } = await import(published + "/os.js");
const seen = [];
const answer = ({ url, headers }, response) => {
  seen.push(headers.host + " " + headers.authorization);
  if (url === "/away") response.writeHead(302, { location: "http://private.example.com/" });
  response.end("hello " + headers.host + "\\n");
};
const key = readFileSync(certificate + ".key"), cert = readFileSync(certificate);
const servers = [http(answer).listen(80, address), https({ key, cert }, answer).listen(443, address)];
const source = createSandbox({
  provider: osSandbox({
    stateDir,
    egress: {
      allow: ["api.example.com", "plain.example.com", "private.example.com", "inner.example.com"],
      inject: [{ host: "api.example.com", header: "authorization", value: "Bearer " + secret }],
    },
  }),
});
const lease = await source.lease("thread");
const said = {};
for (const url of ["http://plain.example.com/", "https://api.example.com/", "-L http://plain.example.com/away",
  "http://other.example.com/", "http://private.example.com/", "http://inner.example.com/"])
  said[url] = (await lease.sandbox.execute("curl -sS --max-time 20 " + url)).output;
said.env = (await lease.sandbox.execute("env; cat /proc/[0-9]*/environ")).output;
await lease.release();
await source.close();
for (const server of servers) server.close().closeAllConnections();
console.log(JSON.stringify({ said, seen }));
`;

test("SB-10 a program in a sandbox of the published packages reaches the hosts it may, with their header, and no others", async () => {
  const directory = scratchDirectory();
  const [hosts, host, certificate] = ["hosts", "host.mjs", "certificate"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  writeFileSync(hosts, HOSTS);
  writeFileSync(host, HOST);
  mkdirSync(join(directory, "state"), { mode: 0o711 });
  const names = ["-subj", "/CN=api.example.com", "-addext", "subjectAltName=DNS:api.example.com"];
  const made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...made, ...names, "-keyout", `${certificate}.key`, "-out", certificate], {
    stdio: "ignore",
  });
  const words = `ip link set lo up && ip addr add ${PUBLIC}/32 dev lo && mount --bind "$0" /etc/hosts && exec "$@"`;
  const given = [pathToFileURL(published).href, join(directory, "state"), certificate, PUBLIC, SECRET];
  const own = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const { stdout } = await promisify(execFile)(
    "unshare",
    [...own, "--net", "--mount", "sh", "-c", words, hosts, process.execPath, host, ...given],
    { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificate } },
  );
  const { said, seen } = JSON.parse(stdout) as { said: Record<string, string>; seen: string[] };
  expect(said["http://plain.example.com/"]).toBe("hello plain.example.com\n");
  expect(said["https://api.example.com/"]).toBe("hello api.example.com\n");
  expect(seen).toEqual([
    "plain.example.com undefined",
    `api.example.com Bearer ${SECRET}`,
    "plain.example.com undefined",
  ]);
  expect(said["-L http://plain.example.com/away"]).toContain("private.example.com");
  expect(said["http://other.example.com/"]).toContain("is not on the egress allow list");
  for (const name of ["private", "inner"])
    expect(said[`http://${name}.example.com/`], name).toMatch(/private|not public|address/i);
  expect(said.env).toContain("https_proxy=");
  expect(said.env).not.toContain(SECRET);
});
