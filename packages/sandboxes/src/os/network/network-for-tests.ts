/** A sandbox without a network but for a proxy whose names lead to loopback. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { loopbackParts, type Opened, type TestProxyOptions } from "../../egress/egress-for-tests.ts";
import type { EgressOptions } from "../../egress/egress-options.ts";
import { openSandboxNetwork, type SandboxNetwork } from "./network.ts";

export interface TestNetwork extends SandboxNetwork {
  readonly lookups: readonly string[];
}

export async function openTestNetwork(
  opened: Opened,
  options: EgressOptions & TestProxyOptions,
): Promise<TestNetwork> {
  const { ports, limits, authority, ...egress } = options;
  const { parts, lookups } = loopbackParts({
    ...(ports ? { ports } : {}),
    ...(limits ? { limits } : {}),
    ...(authority ? { authority } : {}),
  });
  const network = await openSandboxNetwork(egress, { directory: opened.directory(), parts });
  opened.add(network.close);
  return { ...network, lookups };
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command behind the bridge, in namespaces of its own, with this machine to read and nothing of its environment. */
export async function runIn(
  network: SandboxNetwork,
  command: string | readonly string[],
  input = "",
): Promise<Ran> {
  const args = [
    ...[
      "--unshare-all",
      "--die-with-parent",
      "--new-session",
      "--cap-drop",
      "ALL",
      "--uid",
      "1000",
      "--gid",
      "1000",
    ],
    ...[
      "--ro-bind",
      "/",
      "/",
      "--tmpfs",
      "/run",
      "--tmpfs",
      "/tmp",
      "--tmpfs",
      "/root",
      "--proc",
      "/proc",
      "--dev",
      "/dev",
    ],
    ...network.binds.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...["--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"],
    ...Object.entries(network.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", "/tmp", "--", ...network.argv],
  ];
  const words = typeof command === "string" ? ["sh", "-c", command] : command;
  const child = spawn("bwrap", [...args, ...words], { stdio: "pipe" });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? -1)));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { exitCode, stdout, stderr };
}
