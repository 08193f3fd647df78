import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "deepwright";
import { expect, test } from "vitest";
import { newAuthority, Opened } from "../egress/egress-for-tests.ts";
import type { EgressEvent } from "../egress/egress-options.ts";
import { osSandbox } from "../os.ts";
import { Commands } from "./commands.ts";
import { makeLeaseDirectory } from "./lease/lease-directory.ts";
import { prepareLinuxSandbox } from "./linux/linux-sandbox.ts";
import { openTestNetwork } from "./network/network-for-tests.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";
import { osSettings } from "./os-options.ts";

const SECRET = "sk-very-secret-0123456789";

test("SB-10 an empty list and an absent one are no network; a list of everything is a configuration error", () => {
  expect(osSandbox({}).network).toBe("none");
  expect(osSandbox({ egress: { allow: [] } }).network).toBe("none");
  expect(osSandbox({ egress: { allow: ["api.example.com"] } }).network).toBe("allow-list");
  for (const allow of [["*"], ["*."], [""], ["127.0.0.1"], ["api.example.com", "*"]])
    expect(() => osSandbox({ egress: { allow } })).toThrow(ConfigurationError);
  const inject = [{ host: "other.example.com", header: "authorization", value: SECRET }];
  expect(() => osSandbox({ egress: { allow: ["api.example.com"], inject } })).toThrow(ConfigurationError);
  expect(() => osSandbox({ egress: { allow: ["api.example.com"], injekt: [] } as never })).toThrow("injekt");
});

test("commands find the proxy, are told why a host is refused, and reach nothing without it", async () => {
  const stateDir = scratchDirectory();
  const events: EgressEvent[] = [];
  const opened = await openFor({
    stateDir,
    egress: {
      allow: ["api.example.com", "*.example.org"],
      inject: [{ host: "api.example.com", header: "authorization", value: `Bearer ${SECRET}` }],
      onConnection: (event) => events.push(event),
    },
  });
  expect(await run(opened, "exit 3")).toBe("[exit 3]");
  expect(await run(opened, "curl -sS http://evil.io/")).toBe("evil.io is not on the egress allow list\n");
  expect(await run(opened, "curl -sS https://example.org/")).toContain("403");
  expect(await run(opened, "curl -sS http://169.254.169.254/")).toContain("is an address");
  expect(await run(opened, "no_proxy= NO_PROXY= curl -sS http://2130706433/")).toContain("is an address");
  expect(await run(opened, "curl -sS http://api.example.com/")).toContain("over TLS alone");
  expect(await run(opened, "curl -sS --max-time 5 --noproxy '*' http://93.184.216.34/")).toMatch(
    /\[exit (?:7|28)\]/,
  );
  expect(await run(opened, "getent hosts api.example.com")).toBe("[exit 2]");
  expect(events.every(({ allowed }) => !allowed)).toBe(true);
  expect(events.map(({ host }) => host)).toContain("evil.io");
  const all = await run(
    opened,
    "env; id -u; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; cat /run/deepwright-egress/ca.pem; ls -la /run/deepwright-egress",
  );
  expect(all).toContain("https_proxy=http://127.0.0.1:3128");
  expect(all).toContain("SSL_CERT_FILE=/run/deepwright-egress/ca-bundle.pem");
  expect(all).toContain("BEGIN CERTIFICATE");
  expect(all).not.toContain(SECRET);
  await opened.destroy();
  await opened.destroy();
  const left = existsSync(join(stateDir, "egress")) ? readdirSync(join(stateDir, "egress")) : [];
  expect(left).toEqual([]);
});

test("a sandbox cannot reach the proxy of another", async () => {
  const stateDir = scratchDirectory();
  const [one, other] = [
    await openFor({ stateDir, egress: { allow: ["one.example.com"] } }),
    await openFor({ stateDir, egress: { allow: ["other.example.com"] } }),
  ];
  expect(await run(one, "curl -sS http://other.example.com/")).toContain("is not on the egress allow list");
  expect(await run(other, "curl -sS http://one.example.com/")).toContain("is not on the egress allow list");
  const directory = join(stateDir, "egress");
  expect(await run(one, `ls ${directory} 2>/dev/null`)).not.toContain("egress-");
});

test("behind the filter of system calls, as in any sandbox of ours, programs reach an allowed host", async () => {
  await using opened = new Opened();
  const authority = await newAuthority(["api.example.com"]);
  const port = await opened.https(authority, ({ headers }, response) => response.end(headers.authorization));
  const network = await openTestNetwork(opened, {
    allow: ["api.example.com"],
    inject: [{ host: "api.example.com", header: "authorization", value: `Bearer ${SECRET}` }],
    authority,
    ports: { 443: port },
  });
  const state = scratchDirectory();
  const lease = makeLeaseDirectory(state, { key: "test", ttl: 600 }, undefined);
  const settings = osSettings({ stateDir: state });
  const request = { settings, state, lease, workspace: lease.workspace, owner: undefined, env: {}, network };
  const linux = prepareLinuxSandbox(request);
  opened.add(() => linux.close());
  const commands = new Commands(linux.commandSettings);
  const output = async (command: string) => (await commands.execute(command, { timeout: 600 })).output;
  expect(linux.hasFilter).toBe(true);
  const masked = `Bearer ${"*".repeat(SECRET.length)}`;
  const python = `import urllib.request as r; print(r.urlopen("https://api.example.com/").read().decode())`;
  expect(await output("curl -sS https://api.example.com/")).toBe(masked);
  expect(await output(`python3 -c '${python}'`)).toBe(`${masked}\n`);
  const many = "for i in $(seq 8); do curl -sS https://api.example.com/ > $i & done; wait; cat * | wc -c";
  expect((await output(many)).trim()).toBe(String(8 * masked.length));
});
