/**
 * Ways out of a sandbox, as commands that say so when they have got out.
 *
 * Each ends with a word, so that one that broke off is not taken for one that was refused; and the programs they use
 * have to be there, but for those that are named as such.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { perlCalls, sockets } from "./os-for-tests.ts";

export const OUT = "GOT-OUT";
const TRIED = "tried all";

/** Each attempt is a command that succeeds where it gets out. */
export function tries(...attempts: readonly string[]): string {
  return [...attempts.map((attempt) => `{ ${attempt}\n} && echo ${OUT}`), `echo ${TRIED}`].join("\n");
}

/** For a program that a machine may lack; whatever it does is tried in another way too. */
export function ifThere(program: string, attempt: string): string {
  return `command -v ${program} > /dev/null && { ${attempt}\n}`;
}

/** Why what a command of `tries` printed is not a refusal of all its attempts; undefined: it is. */
export function failing(printed: string): string | undefined {
  if (printed.includes(OUT)) return `got out: ${printed}`;
  if (!printed.endsWith(`${TRIED}\n`)) return `broke off: ${printed}`;
  const [missing] = /^.*: (?:command |applet )?not found$/m.exec(printed) ?? [];
  return missing === undefined ? undefined : `was not tried: ${missing}`;
}

export interface Outside {
  /** The path of a file of this machine that no command may see. */
  readonly marked: string;
  /** A variable of the harness, and its value. */
  readonly secret: readonly [name: string, value: string];
  /** Processes of this machine. */
  readonly pids: readonly number[];
  /** Takes it all away. */
  end(): void;
}

/** Owner of commands in a private directory of root. */
const NOBODY = 60_606;

/** Files that commands look for and must not reach; `user` is a further owner of them. */
export function makeOutside(user: number = NOBODY): Outside {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-os-outside-"));
  const marked = join(directory, "marked");
  chmodSync(directory, 0o755);
  writeFileSync(marked, "for nobody\n", { mode: 0o644 });
  const secret = ["DEEPWRIGHT_TEST_SECRET", `hidden${Math.random().toString(36).slice(2)}`] as const;
  process.env[secret[0]] = secret[1];
  // As whoever commands may belong to.
  const owners = process.getuid?.() === 0 ? [{}, { uid: user, gid: user }] : [{}];
  const processes = owners.map((owner) => spawn("sleep", ["600"], { cwd: "/", stdio: "ignore", ...owner }));
  const end = (): void => {
    for (const child of processes) child.kill("SIGKILL");
    delete process.env[secret[0]];
    rmSync(directory, { recursive: true });
  };
  return { marked, secret, pids: processes.map(({ pid }) => pid ?? 0), end };
}

const isRefused = (call: Parameters<typeof perlCalls>[0]): string =>
  `! ${perlCalls(call)} | grep -qx -e '-1 Operation not permitted'`;
const bytesOf = (path: string): string => `[ "$(head -c 10 ${path} | wc -c)" -gt 0 ]`;
const names = (words: string): string => `[ -n "$(${words} 2>/dev/null)" ]`;

/** A pattern that a search does not find in its own command. */
const unlikeItself = (value: string): string => `[${value.slice(0, 1)}]${value.slice(1)}`;

/** Searches all memory of process 1 that can be read. */
const memorySearch = (value: string): string =>
  `perl -e 'open(M, q(<), q(/proc/1/maps)) or exit 1; open(F, q(<:raw), q(/proc/1/mem)) or exit 1; while (<M>) { /^(\\w+)-(\\w+) r/ or next; sysseek(F, hex $1, 0); sysread(F, $b, hex($2) - hex($1)); $b =~ /${unlikeItself(value)}/ and exit 0 } exit 1'`;

export const ESCAPES: readonly [name: string, attempts: (outside: Outside) => readonly string[]][] = [
  [
    "by settings of the kernel",
    () =>
      [
        "kernel/core_pattern",
        "kernel/modprobe",
        "vm/swappiness",
        "kernel/hostname",
        "net/core/somaxconn",
      ].map((name) => `(cat /proc/sys/${name} > /proc/sys/${name})`),
  ],
  [
    "by SysRq, or interrupts",
    () => [
      "(echo h > /proc/sysrq-trigger)",
      "(cat /proc/irq/default_smp_affinity > /proc/irq/default_smp_affinity)",
    ],
  ],
  [
    "by the roots of processes",
    ({ marked }) => [
      ...["/proc/1/root", "/proc/self/root", "/proc/1/cwd/../..", "/proc/self/cwd/../.."].map(
        (root) => `cat ${root}${marked}`,
      ),
      `cat /proc/[0-9]*/root${marked} 2>/dev/null | grep .`,
      `cat /proc/[0-9]*/fd/*${marked} 2>/dev/null | grep .`,
      names("ls -A /proc/1/root/root"),
    ],
  ],
  [
    "by the memory and the variables of process 1",
    ({ secret: [name, value] }) => [
      memorySearch(value),
      `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -E '${name}|${unlikeItself(value)}|^VITEST|^npm_'`,
    ],
  ],
  [
    "by descriptors that were left open",
    () => [
      // Pipes, the empty device, and the directory that is being listed.
      `perl -e 'for (glob(q(/proc/{self,1}/fd/*))) { $to = readlink or next; -p $_ or $to =~ m{^(anon_inode:.*|(/newroot)?/dev/null|/tmp/.*/devices/null)$} or print(qq($to\\n)), $out = 1 } exit !$out'`,
    ],
  ],
  [
    "by the memory of the machine",
    () => [
      ...["/dev/mem", "/dev/kmem", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/kmsg"].map(bytesOf),
      ...["/proc/kcore", "/proc/kmsg", "/proc/mtrr"].map(bytesOf),
    ],
  ],
  [
    "by making a device",
    () => ["mknod d b 254 0", "mknod d c 1 1", "mknod /tmp/d b 8 0", "mknod /dev/shm/d c 1 1"],
  ],
  [
    "by mounting",
    () => [
      "mount --bind / /tmp",
      "mount -t proc p /tmp",
      "mount -o remount,rw /usr",
      "umount /proc",
      "umount -l /usr",
      ifThere("fusermount", "fusermount -u /tmp"),
      isRefused("mount"),
    ],
  ],
  [
    "by a new user namespace",
    () => ["unshare -Ur true", "unshare -U true", "bwrap --ro-bind / / true", isRefused("unshare")],
  ],
  ["by changing the root", () => [isRefused("chroot"), "chroot / true"]],
  ["by handles of files", () => [isRefused("open_by_handle_at")]],
  ["by reading another process", () => [isRefused("process_vm_readv")]],
  ["by taking another's descriptor", () => [isRefused("pidfd_getfd")]],
  ["by putting words into a terminal", () => [isRefused("tiocsti")]],
  ["by the same with other upper bits", () => [isRefused("tiocsti_high")]],
  ["by another kernel", () => [isRefused("kexec_load")]],
  ["by a module", () => [isRefused("init_module")]],
  ["by the log of the kernel", () => [isRefused("syslog"), "dmesg"]],
  ["by a socket to the hypervisor", () => [sockets.family(40, 1)]],
  [
    "by raw packets",
    () => [
      sockets.family(17),
      sockets.raw(),
      // What a socket to the kernel's audit can do is more than routes can.
      "perl -MSocket -e 'socket(S,16,3,9) or die'",
    ],
  ],
  ["by the kernel's own cryptography", () => [sockets.family(38, 5)]],
  [
    "by a program that lends rights",
    () => ["su root -c id", "perl -e '$> = 0; exit($> != 0)'", "perl -e '$< = 0; exit($< != 0)'"],
  ],
  [
    "by lending rights to a file",
    () => [
      "cp /bin/sh s; chmod 4755 s",
      "chmod u+s s",
      "chmod g+s s",
      "install -m 6755 /bin/sh t",
      "perl -e 'sysopen(F,q(u),0x41,04755); exit !chmod 02755, q(s)'",
      names("find . /tmp -perm /6000"),
    ],
  ],
  [
    "by a capability of a file",
    () => [
      ifThere("setcap", "cp /bin/sh s; setcap cap_sys_admin+ep s"),
      "cp /bin/sh s; perl -e '$v = pack q(L5), 0x02000001, 1 << 21, 0, 0, 0; exit(0 > syscall(0 + $ARGV[0], qq(s\\0), qq(security.capability\\0), $v, 20, 0))' " +
        (process.arch === "arm64" ? "5" : "188"),
    ],
  ],
  [
    "by links to what is outside",
    ({ marked }) => [
      "ln -sf /etc/shadow l; cat l",
      `ln -sf ${marked} m; cat m`,
      "ln /etc/passwd h",
      "ln /usr/bin/env h",
    ],
  ],
  [
    "by control groups",
    () => [
      "mkdir /sys/fs/cgroup/x",
      names("find / -name release_agent"),
      "(echo 0 > /sys/fs/cgroup/cgroup.procs)",
    ],
  ],
  ["by keys of the machine", () => [isRefused("keyctl")]],
  [
    "by other programs' files",
    () => [
      "(echo x > /usr/bin/evil)",
      "(echo x > /usr/lib/evil)",
      "(echo x > /etc/ld.so.preload)",
      "cp /bin/sh /usr/local/bin/evil",
    ],
  ],
  [
    "by the variables of the harness",
    ({ secret: [name] }) => [`env | grep -E '^(${name}|VITEST|npm_|NODE_)'`],
  ],
  [
    "by a process of the machine",
    ({ pids }) => [...pids.map((pid) => `kill -9 ${pid}`), `[ -e /proc/${pids[0]} ]`],
  ],
  [
    "by the place in which it was set up",
    () => [
      "[ -e /proc/1/root/oldroot ] || [ -e /oldroot ] || [ -e /newroot ]",
      "for p in /proc/[0-9]*; do (echo x > $p/root/workspace/.vscode/x) 2>/dev/null && exit 0; done; false",
      "for p in /proc/[0-9]*; do (echo x > $p/cwd/.vscode/x) 2>/dev/null && exit 0; done; false",
    ],
  ],
  [
    "by climbing",
    ({ marked }) => [
      `cat ../../../../../..${marked}`,
      `cat /workspace/../..${marked}`,
      "ls / /workspace/../.. | grep -xE 'root|boot|work|srv|mnt'",
    ],
  ],
];
