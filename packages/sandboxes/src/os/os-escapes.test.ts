/** Attempts to get out, each of which succeeds where a sandbox has the hole it is about. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OsSandboxOptions, osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";
import { openFor, perlCalls, run, scratchDirectory, sockets } from "./os-for-tests.ts";

const KINDS: readonly [string, () => OsSandboxOptions][] = [
  ["a private directory", () => ({})],
  ["a directory of this machine", () => ({ rootDir: mkdtempSync(join(tmpdir(), "deepwright-os-test-")) })],
];

describe.each(KINDS)("from %s no command gets out", (_, options) => {
  let opened: OpenedSandbox;
  const given = options();
  beforeAll(async () => {
    opened = await osSandbox(given).open({ key: "escapes", env: {} });
  });
  afterAll(async () => {
    await opened.destroy();
    if (given.rootDir) rmSync(given.rootDir, { recursive: true, force: true });
  });

  const attempts: readonly [name: string, command: string, refused: RegExp][] = [
    [
      "by settings of the kernel",
      "for f in kernel/core_pattern kernel/modprobe vm/swappiness kernel/hostname net/core/somaxconn; do (cat /proc/sys/$f > /proc/sys/$f) && echo got out; done",
      /^(?!.*got out)/s,
    ],
    [
      "by SysRq, or interrupts",
      "(echo h > /proc/sysrq-trigger) && echo got out; (echo 1 > /proc/irq/default_smp_affinity) && echo got out",
      /^(?!.*got out)/s,
    ],
    [
      "by the roots of processes",
      "ls /proc/1/root/root /proc/self/root/root /proc/1/cwd/../root /proc/*/root/boot",
      /^(?!.*(vmlinuz|\.bashrc|\.ssh))/s,
    ],
    [
      "by the memory of process 1",
      "dd if=/proc/1/mem of=/dev/null count=1 2>&1; cat /proc/1/environ | tr '\\0' '\\n'",
      /^(?!.*(HOME=\/root|VITEST))/s,
    ],
    [
      "by descriptors that were left open",
      "ls -l /proc/self/fd /proc/$$/fd /proc/1/fd | grep -vE 'total|^/proc|^$' | awk '{print $NF}' | sort -u",
      /^(?!.*(\.bpf|lease\.json|\/work|vitest|node_modules))/s,
    ],
    [
      "by the memory of the machine",
      "cat /dev/mem /dev/kmem /proc/kcore /dev/sda /dev/vda /dev/nvme0n1 /dev/kmsg /proc/kmsg | head -c 10 | wc -c",
      /0\n/,
    ],
    ["by making a device", "mknod d b 254 0 || mknod d c 1 1 || mknod /tmp/d b 8 0", /exit 1/],
    [
      "by mounting",
      "mount --bind / /tmp; mount -t proc p /tmp; mount -o remount,rw /usr; umount /proc; umount -l /usr; fusermount -u /tmp",
      /exit/,
    ],
    [
      "by a new user namespace",
      "unshare -Ur sh -c 'mount -t tmpfs t /usr && echo got out'; bwrap --ro-bind / / --tmpfs /usr sh -c 'echo got out'",
      /^(?!.*got out)/s,
    ],
    ["by changing the root", perlCalls("chroot"), /^-1 Operation not permitted/],
    ["by handles of files", perlCalls("open_by_handle_at"), /^-1 Operation not permitted/],
    ["by reading another process", perlCalls("process_vm_readv"), /^-1 Operation not permitted/],
    ["by taking another's descriptor", perlCalls("pidfd_getfd"), /^-1 Operation not permitted/],
    ["by putting words into a terminal", perlCalls("tiocsti"), /^-1 Operation not permitted/],
    ["by the same with other upper bits", perlCalls("tiocsti_high"), /^-1 Operation not permitted/],
    ["by another kernel", perlCalls("kexec_load"), /^-1 Operation not permitted/],
    ["by a module", perlCalls("init_module"), /^-1 Operation not permitted/],
    ["by the log of the kernel", `${perlCalls("syslog")}; dmesg | head -1`, /^-1 Operation not permitted/],
    ["by a socket to the hypervisor", sockets.family(40, 1), /not supported[\s\S]*exit/],
    [
      "by raw packets",
      `${sockets.family(17)}; ${sockets.family(16, 3)} && perl -MSocket -e 'socket(S,16,3,9) or die'`,
      /exit/,
    ],
    ["by the kernel's own cryptography", sockets.family(38, 5), /not supported[\s\S]*exit/],
    [
      "by a program that lends rights",
      "find / -xdev -perm -4000 2>/dev/null | head -3; su root -c id; perl -e '$> = 0; $< = 0; print qq($< $>\\n)'",
      /^(?!.*uid=0)(?!.*\n0 0\n)/s,
    ],
    [
      "by lending rights to a file",
      "cp /bin/sh s; chmod 4755 s; chmod u+s s; install -m 6755 /bin/sh t; perl -e 'sysopen(F,q(u),0x41,04755); chmod 02755, q(s)'; find . -perm /6000",
      /^(?!.*^\.\/[stu]$)/ms,
    ],
    [
      "by a capability of a file",
      "cp /bin/sh s; setcap cap_sys_admin+ep s && ./s -c 'mount -t tmpfs x /tmp && echo got out'",
      /^(?!.*got out)/s,
    ],
    [
      "by links to what is outside",
      "ln -s /etc/shadow l; cat l; ln /etc/passwd h && echo got out; ln /usr/bin/env h && echo got out",
      /^(?!.*(root:|got out))/s,
    ],
    [
      "by control groups",
      "mkdir /sys/fs/cgroup/x; find / -name release_agent 2>/dev/null; echo 0 > /sys/fs/cgroup/cgroup.procs",
      /exit/,
    ],
    ["by keys of the machine", `${perlCalls("keyctl")}; cat /proc/keys; true`, /^-1 Operation not permitted/],
    [
      "by other programs' files",
      "echo x > /usr/bin/evil; echo x > /usr/lib/evil; echo x > /etc/ld.so.preload; cp /bin/sh /usr/local/bin/ls",
      /exit 1/,
    ],
    [
      "by the variables of the harness",
      "env; cat /proc/*/environ | tr '\\0' '\\n'",
      /^(?!.*(VITEST|npm_|NODE_ENV|DEEPWRIGHT_TEST_SECRET))/s,
    ],
    [
      "by the modes of devices",
      "chmod 000 /dev/null /dev/zero; chown 1000 /dev/null; touch -d 2001-01-01 /dev/null; rm -f /dev/null; true",
      /^/,
    ],
    [
      "by a process of the machine",
      "kill -9 -1; kill -9 2>/dev/null $(seq 100 200); echo x > /proc/1/oom_score_adj; true",
      /^/,
    ],
    [
      "by climbing",
      "cd ../../../../../.. && pwd && ls && ls /workspace/../..",
      /^\/\nbin\n(?!.*(root|work\b|boot))/s,
    ],
  ];

  it.each(attempts)("%s", async (_name, command, refused) => {
    process.env.DEEPWRIGHT_TEST_SECRET = "for nobody";
    const before = {
      swappiness: readFileSync("/proc/sys/vm/swappiness", "utf8"),
      null: statSync("/dev/null").mode,
    };
    expect(await run(opened, command)).toMatch(refused);
    delete process.env.DEEPWRIGHT_TEST_SECRET;
    expect({
      swappiness: readFileSync("/proc/sys/vm/swappiness", "utf8"),
      null: statSync("/dev/null").mode,
    }).toEqual(before);
    for (const path of ["/usr/bin/evil", "/usr/lib/evil", "/etc/ld.so.preload", "/usr/local/bin/ls"])
      expect(existsSync(path), path).toBe(false);
  });
});

describe("bombs", () => {
  const limits = { memoryMb: 256, processes: 40, fileSizeMb: 8, cpuSeconds: 2, openFiles: 64 };

  it("memory is bounded, and the sandbox goes on", async () => {
    const opened = await openFor({ limits });
    const output = await run(opened, "perl -e '$x = q(a) x (1024*1024*700); print length $x'; echo after $?");
    expect(output).toMatch(/after 137|exit 137/);
    expect(await run(opened, "echo next")).toBe("next\n");
  });

  it("memory in files of memory is bounded too", async () => {
    const opened = await openFor({ limits: { ...limits, fileSizeMb: 2048 } });
    await opened.sandbox.execute("head -c 600M /dev/zero > /dev/shm/x; echo $?", { timeout: 20 });
    expect(await run(opened, "ls /dev/shm; echo next")).toBe("next\n");
    const size = "df --output=size -BM /dev/shm | tail -1 | tr -d ' '";
    expect(await run(opened, size)).toBe("256M\n");
    expect(
      await run(opened, "for d in /usr/local/etc /usr/etc; do (echo x > $d/x) && echo made; done; true"),
    ).not.toMatch(/^made$/m);
  });

  it("a closed directory takes no memory, whatever its mode is made", async () => {
    const opened = await openFor({ rootDir: scratchDirectory(), limits: { ...limits, fileSizeMb: 2048 } });
    const fill = "chmod 700 .vscode; head -c 100M /dev/zero > .vscode/x; du -m .vscode/x | cut -f1";
    expect(await run(opened, fill)).toMatch(/No space left on device[\s\S]*\n[01]\n$/);
  });

  it("processes are bounded", async () => {
    const opened = await openFor({ limits });
    const output = await run(opened, "bomb() { bomb | bomb & }; bomb; sleep 1; echo over", 10);
    expect(output).toMatch(/Resource temporarily unavailable|retry|exit/);
    expect(await run(opened, "echo next")).toBe("next\n");
  });

  it("a file, the time of a processor and open files are bounded", async () => {
    const opened = await openFor({ limits });
    expect(await run(opened, "head -c 20M /dev/zero > big; stat -c %s big")).toMatch(/8388608/);
    expect(await run(opened, "perl -e '1 while 1'", 20)).toMatch(/exit 137|exit 152/);
    expect(await run(opened, "ulimit -n; ulimit -n 1000000")).toMatch(/^64\n[\s\S]*exit 1/);
    expect(await run(opened, "ulimit -f unlimited; ulimit -t unlimited")).toMatch(/exit 1/);
  });
});

describe("by what lies in a directory of this machine", () => {
  it("links that lead out lead nowhere, and hard links are refused by file operations as usual", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(rootDir, "out"));
    symlinkSync(join(outside, "secret"), join(rootDir, "file"));
    const opened = await openFor({ rootDir });
    expect(await run(opened, "cat out/secret file; echo x > out/new; echo x > file")).toMatch(/exit 1/);
    expect(readdirSync(outside)).toEqual(["secret"]);
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
    expect(await opened.sandbox.read("/workspace/file")).toHaveProperty("error");
  });

  it("a directory that is swapped for a link while file operations run leads them nowhere", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "file.txt"), "outside");
    mkdirSync(join(rootDir, "dir"));
    writeFileSync(join(rootDir, "dir/file.txt"), "inside");
    symlinkSync(outside, join(rootDir, "link"));
    const opened = await openFor({ rootDir });
    const swapping = run(
      opened,
      "end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do mv dir real; mv link dir; mv dir link; mv real dir; done",
    );
    const seen = new Set<string>();
    for (let done = false; !done; ) {
      const [read] = await Promise.all([
        opened.sandbox.read("/workspace/dir/file.txt"),
        opened.sandbox.write(`/workspace/dir/${Math.random()}.txt`, "x"),
      ]);
      if (read.error === undefined) seen.add(String(read.content));
      done = await Promise.race([
        swapping.then(() => true),
        new Promise<boolean>((resolve) => setTimeout(resolve, 1, false)),
      ]);
    }
    expect([...seen].every((content) => content.startsWith("inside"))).toBe(true);
    expect(readdirSync(outside)).toEqual(["file.txt"]);
  });

  it("a set-user-id program that lies there lends nothing", async () => {
    const rootDir = scratchDirectory();
    writeFileSync(join(rootDir, "s"), readFileSync("/bin/sh"), { mode: 0o755 });
    chmodSync(join(rootDir, "s"), 0o4755);
    const opened = await openFor({ rootDir });
    expect(await run(opened, "./s -p -c 'id -u; grep CapEff /proc/self/status'")).toBe(
      "1000\nCapEff:\t0000000000000000\n",
    );
  });

  it("a second name of a file outside is the file itself: whoever made it shared it", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "shared"), "before");
    linkSync(join(outside, "shared"), join(rootDir, "shared"));
    const opened = await openFor({ rootDir });
    expect(await run(opened, "ln shared again && rm shared again && ls -A | grep -c shared; true")).toBe(
      "0\n",
    );
    expect(readFileSync(join(outside, "shared"), "utf8")).toBe("before");
  });
});

it("a variable that a loader obeys takes effect inside alone", async () => {
  const rootDir = scratchDirectory();
  const opened = await openFor({
    rootDir,
    env: { LD_PRELOAD: "/workspace/evil.so", BASH_ENV: "/workspace/start.sh" },
  });
  writeFileSync(join(rootDir, "start.sh"), "echo started as $(id -u)\n");
  expect(await run(opened, "env | grep -E '^(LD_PRELOAD|BASH_ENV)='")).toMatch(
    /started as 1000[\s\S]*LD_PRELOAD=\/workspace\/evil\.so/,
  );
});
