import { createSocket } from "node:dgram";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type OsSandboxOptions, osSandbox } from "../os.ts";
import type { OpenedSandbox, OpenRequest } from "../provider.ts";

/** A directory for one test. */
export function scratchDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-os-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A sandbox for one test. */
export async function openFor(
  options: OsSandboxOptions = {},
  request: Partial<OpenRequest> = {},
): Promise<OpenedSandbox> {
  const opened = await osSandbox(options).open({ key: "test", env: {}, ...request });
  onTestFinished(() => opened.destroy());
  return opened;
}

/** Output of a command, with its exit code if that was not 0. */
export async function run(opened: OpenedSandbox, command: string, timeout = 600): Promise<string> {
  const { output, exitCode } = await opened.sandbox.execute(command, { timeout });
  return exitCode === 0 ? output : `${output}[exit ${exitCode}]`;
}

export interface WaitingCommand {
  /** Text of the command, to which more can be added. It leaves no files behind when it goes on. */
  readonly command: string;
  begun(): Promise<void>;
  goOn(): void;
}

/** A command in a directory of this machine that waits until the test lets it go on, and repeats `meanwhile`. */
export function waitingCommand(rootDir: string, meanwhile = "true"): WaitingCommand {
  return {
    command: `touch begun; until [ -e go ]; do ${meanwhile}; sleep 0.05; done; rm -f begun go`,
    begun: () => until(() => existsSync(join(rootDir, "begun"))),
    goOn: () => writeFileSync(join(rootDir, "go"), ""),
  };
}

/** A server on the loopback of this machine, for TCP and UDP, that counts who comes. */
export async function listeningSocket(): Promise<{ port: number; heard: () => number }> {
  let heard = 0;
  const server = createServer((socket) => {
    heard += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const datagrams = createSocket("udp4", () => {
    heard += 1;
  });
  await new Promise<void>((resolve) => datagrams.bind(port, "0.0.0.0", resolve));
  onTestFinished(() => {
    server.close();
    datagrams.close();
  });
  return { port, heard: () => heard };
}

const perl = (text: string): string => `perl -MSocket -e '${text}; '`;
const orDie = "or die qq($!\\n)";

/** Commands that use sockets without any program for networks; each fails where it does not get through. */
export const sockets = {
  tcp: (host: string, port: number) =>
    perl(
      `$SIG{ALRM}=sub{die qq(late\\n)}; alarm 300; socket(S,AF_INET,SOCK_STREAM,0) ${orDie}; connect(S,pack_sockaddr_in(${port},inet_aton(q(${host})))) ${orDie}`,
    ),
  udp: (host: string, port: number) =>
    perl(
      `socket(S,AF_INET,SOCK_DGRAM,0) ${orDie}; send(S,q(x),0,pack_sockaddr_in(${port},inet_aton(q(${host})))) ${orDie}`,
    ),
  raw: () => perl(`socket(S,AF_INET,SOCK_RAW,1) ${orDie}`),
  lookup: (name: string) => perl(`gethostbyname(q(${name})) or die qq(not found\\n)`),
  unix: (path: string) =>
    perl(
      `socket(S,AF_UNIX,SOCK_STREAM,0) ${orDie}; connect(S,pack_sockaddr_un(q(${path}))) ${orDie}; print <S>`,
    ),
  /** Servers differ in whether the zeros after the name belong to it. */
  abstract: (name: string) =>
    perl(
      `socket(S,AF_UNIX,SOCK_STREAM,0) ${orDie}; $n = qq(\\0).q(${name}); connect(S,pack(q(S a*),1,$n)) or connect(S,pack(q(S a108),1,$n)) ${orDie}; print <S>`,
    ),
  family: (family: number, kind = 3) => perl(`socket(S,${family},${kind},0) ${orDie}; print q(opened)`),
};

/** Numbers of system calls, for x86-64 and arm64, with arguments with which they would succeed or fail in another way. */
const CALLS = {
  ptrace: [101, 117, "0,0,0,0"],
  io_uring_setup: [425, 425, "8,$buffer"],
  unshare: [272, 97, "0x10000000"],
  setns: [308, 268, "0,0"],
  mount: [165, 40, "q(none),q(/tmp),q(tmpfs),0,0"],
  bpf: [321, 280, "0,$buffer,64"],
  userfaultfd: [323, 282, "1"],
  keyctl: [250, 219, "0,-3,0"],
  perf_event_open: [298, 241, "$buffer,0,-1,-1,0"],
  clone_newuser: [56, 220, "0x10000011,0,0,0,0"],
  clone3: [435, 435, "$buffer,88"],
  open_by_handle_at: [304, 265, "-100,$buffer,0"],
  process_vm_readv: [310, 270, "1,$buffer,1,$buffer,1,0"],
  pidfd_getfd: [438, 438, "0,0,0"],
  chroot: [161, 51, "q(/tmp)"],
  kexec_load: [246, 104, "0,0,0,0"],
  init_module: [175, 105, "$buffer,64,q()"],
  syslog: [103, 116, "3,$buffer,64"],
  tiocsti: [16, 29, "0,0x5412,$buffer"],
  tiocsti_high: [16, 29, "0,0x100005412,$buffer"],
} as const;

/** A command that makes the call and prints what it returned and why. */
export function perlCalls(call: keyof typeof CALLS): string {
  const [x64, arm64, args] = CALLS[call];
  const number = process.arch === "arm64" ? arm64 : x64;
  return `perl -e '$buffer = qq(\\0) x 256; @given = (${args}); $r = syscall(${number}, @given); print qq($r $!\\n)'`;
}
