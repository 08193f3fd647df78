import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { OsSandboxOptions } from "../os.ts";
import { osSandbox } from "../os.ts";
import {
  listeningSocket,
  openFor,
  perlCalls,
  run,
  scratchDirectory,
  sockets,
  waitUntil,
} from "./os-for-tests.ts";

/** As they are opened: on a private directory, and on one of this machine's. */
const KINDS: readonly [string, () => OsSandboxOptions][] = [
  ["a private directory", () => ({})],
  ["a directory of this machine", () => ({ rootDir: scratchDirectory() })],
];

describe.each(KINDS)("on %s", (_, options) => {
  it("SB-01 the workspace can be written, /tmp is private, and nothing else can be changed or seen", async () => {
    const opened = await openFor(options());
    const marked = join(scratchDirectory(), "marked");
    writeFileSync(marked, "secret");
    expect(await run(opened, "echo one > file && cat file")).toBe("one\n");
    expect(await run(opened, `ls -A /tmp; echo x > /tmp/own; cat ${marked}`)).toMatch(
      /^\.home\n.*No such file/,
    );
    for (const place of [
      "/",
      "/usr",
      "/usr/bin",
      "/etc",
      "/etc/passwd.d",
      "/dev",
      "/proc",
      "/run",
      "/var",
      "/home",
    ])
      expect(await run(opened, `touch ${place}/x; mkdir ${place}/x`), place).toMatch(/exit 1/);
    expect(
      await run(opened, `ls -d ${homedir()} /root /work /srv /mnt /boot /sys /home/agent/..`),
    ).not.toMatch(/^\/(root|work|srv|mnt|boot|sys)/m);
    expect(await run(opened, "cat /etc/shadow /etc/machine-id /etc/ssl/private/* /etc/ssh/*")).toMatch(
      /^(cat: .*: No such file or directory\n)+\[exit 1\]$/,
    );
    expect(await run(opened, "hostname; id -un; echo $HOME; touch ~/x && ls ~")).toBe(
      "sandbox\nagent\n/home/agent\nx\n",
    );
  });

  it("SB-02 nothing of the network can be reached, by whatever program", async () => {
    const opened = await openFor(options());
    const server = await listeningSocket();
    const { port } = server;
    const attempts = [
      `curl -sS -m 3 http://127.0.0.1:${port}/`,
      `wget -q -T 3 -t 1 -O - http://127.0.0.1:${port}/`,
      "curl -sS -m 3 https://1.1.1.1/",
      `nc -w 3 127.0.0.1 ${port} < /dev/null`,
      "ping -c 1 -W 2 127.0.0.1 || ping -c 1 -W 2 8.8.8.8 && exit 1; false",
      `ssh -o ConnectTimeout=3 -o BatchMode=yes -p ${port} 127.0.0.1 true`,
      "getent hosts example.com",
      `: < /dev/tcp/127.0.0.1/${port}`,
      `echo x > /dev/udp/127.0.0.1/${port}; ${sockets.udp("127.0.0.1", port)}; false`,
      sockets.tcp("127.0.0.1", port),
      sockets.tcp("10.0.0.1", 80),
      sockets.raw(),
      sockets.lookup("example.com"),
    ];
    for (const attempt of attempts) expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(server.heard()).toBe(0);
    expect(await run(opened, "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")).toBe("lo\n");
  });

  it("SB-05 no privileges, and no way to more", async () => {
    const opened = await openFor(options());
    const status = await run(opened, "cat /proc/self/status");
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(await run(opened, "cp /bin/sh ./own; chmod 4755 ./own; ls -l own; chmod g+s own")).toMatch(
      /not permitted[\s\S]*-rwxr-xr-x[\s\S]*not permitted/,
    );
    for (const program of [
      "su -c id",
      "sudo -n id",
      "mount -t tmpfs none /tmp",
      "unshare -U id",
      "unshare -r id",
      "strace -f true",
      "gdb -q -batch -p 1",
      "nsenter -t 1 -m true",
      "chroot / true",
    ])
      expect(await run(opened, program), program).toMatch(
        /exit \d+|ptrace: Operation not permitted|not found/,
      );
    for (const call of [
      "ptrace",
      "io_uring_setup",
      "unshare",
      "setns",
      "mount",
      "bpf",
      "userfaultfd",
      "keyctl",
      "perf_event_open",
      "clone_newuser",
      "clone3",
    ] as const)
      expect(await run(opened, perlCalls(call)), call).toMatch(
        /^-1 (Operation not permitted|Function not implemented)\n$/,
      );
  });

  it("SB-06 no process of the machine is seen or reached, and none is left", async () => {
    const opened = await openFor(options());
    const seen = (await run(opened, "ls /proc | grep -E '^[0-9]+$' | wc -l")).trim();
    expect(Number(seen)).toBeLessThan(10);
    expect(await run(opened, `kill -0 ${process.pid}; kill -9 ${process.pid}`)).toMatch(
      /No such process[\s\S]*exit 1/,
    );
    const mark = `4${Math.random().toString().slice(2, 8)}`;
    await run(
      opened,
      `setsid nohup sleep ${mark} > /dev/null 2>&1 & disown; (setsid setsid sleep ${mark} &)`,
    );
    expect(await waitUntil(() => !isRunning(`sleep\0${mark}`), 2000)).toBe(true);
  });

  it("SB-07 sockets of the machine cannot be connected to", async () => {
    const opened = await openFor(options());
    const path = join(scratchDirectory(), "agent.sock");
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const abstract = createServer((socket) => socket.end("reached"));
    const name = `deepwright-${process.pid}-${Math.random()}`;
    await new Promise<void>((resolve) => abstract.listen(`\0${name}`, resolve));
    onTestFinished(() => {
      server.close();
      abstract.close();
    });
    for (const target of [
      path,
      "/var/run/docker.sock",
      "/run/docker.sock",
      "/run/dbus/system_bus_socket",
      "/tmp/.X11-unix/X0",
    ])
      expect(await run(opened, sockets.unix(target)), target).toMatch(/No such file|exit/);
    expect(await run(opened, sockets.abstract(name))).toMatch(/Connection refused/);
    const { output } = await opened.sandbox.execute("env");
    expect(output).not.toMatch(/SSH_AUTH_SOCK|DBUS|DISPLAY|DOCKER_HOST|XDG_/);
  });

  it("SB-12 a directory that a call chooses does not become writable", async () => {
    const opened = await openFor(options());
    expect(await run(opened, "cd / && echo x > x")).toMatch(/exit 1/);
    expect(await run(opened, "cd ../.. && pwd && echo x > x")).toMatch(/^\/\n[\s\S]*exit 1/);
    const given = { cwd: "/", rootDir: "/", workingDirectory: "/" } as object;
    const { output } = await opened.sandbox.execute("pwd; echo x > /x", given);
    expect(output).toMatch(/^\/workspace\n.*Read-only file system/);
    expect(await opened.sandbox.write("/../../x", "x")).toHaveProperty("error");
    expect(await opened.sandbox.write("/workspace/../../x", "x")).toHaveProperty("error");
    expect(existsSync("/x")).toBe(false);
  });
});

describe("where it cannot be used", () => {
  const pathBefore = process.env.PATH;
  const cwdBefore = process.cwd();
  beforeEach(() => {
    process.env.PATH = pathBefore;
  });
  afterEach(() => {
    process.env.PATH = pathBefore;
    process.chdir(cwdBefore);
  });

  it.each([
    [
      "missing",
      () => "/nowhere/bwrap",
      /'\/nowhere\/bwrap' is not a program.*apt install bubblewrap.*docker/,
    ],
    [
      "not executable",
      () => {
        const path = join(scratchDirectory(), "bwrap");
        writeFileSync(path, "#!/bin/sh\n", { mode: 0o644 });
        return path;
      },
      /is not a program that can be run.*docker/,
    ],
    [
      "without user namespaces",
      () =>
        script(
          "echo 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it' >&2; exit 1",
        ),
      /namespace.*sysctl user\.max_user_namespaces.*docker/,
    ],
    [
      "one that isolates nothing",
      () => script('while [ "$1" != -- ]; do shift; done; shift; cd /tmp; exec "$@"'),
      /self-test failed at/,
    ],
    ["one that does nothing", () => script("exit 0"), /cannot be used here/],
  ])(
    "SB-08 a bwrap that is %s is refused with what can be done, and no command is run",
    async (_, path, words) => {
      const ran = join(scratchDirectory(), "ran");
      const stateDir = scratchDirectory();
      const provider = osSandbox({ bubblewrap: path(), stateDir });
      await expect(
        (async () => {
          const opened = await provider.open({ key: "k", env: {} });
          await opened.sandbox.execute(`touch ${ran}`);
        })(),
      ).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE", message: expect.stringMatching(words) });
      expect(existsSync(ran)).toBe(false);
      expect(existsSync(join(stateDir, "leases")) ? readdirSync(join(stateDir, "leases")) : []).toEqual([]);
    },
  );

  it("SB-08 a system that has no such sandbox is refused, with what can be used instead", async () => {
    const stateDir = scratchDirectory();
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "win32" });
    try {
      await expect(osSandbox({ stateDir }).open({ key: "k", env: {} })).rejects.toMatchObject({
        code: "SANDBOX_UNAVAILABLE",
        message: expect.stringMatching(/needs Linux or macOS, and this is win32\. Use .*docker/),
      });
    } finally {
      Object.defineProperty(process, "platform", { value: platform });
    }
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it("SB-09 no bwrap, git or rg of the working directory is started", async () => {
    const rootDir = scratchDirectory();
    const trap = join(scratchDirectory(), "trap");
    mkdirSync(join(rootDir, "bin"));
    for (const name of ["bwrap", "rg", "git", "sh", "mkfifo", "mknod", "setpriv"])
      for (const directory of [rootDir, join(rootDir, "bin")])
        writeFileSync(join(directory, name), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    process.chdir(rootDir);
    process.env.PATH = `.:bin::${rootDir}:${rootDir}/bin:${pathBefore}`;
    const opened = await openFor({ rootDir });
    expect(await run(opened, "echo works; echo needle > file")).toBe("works\n");
    expect(await opened.sandbox.grep("needle", "/workspace")).toMatchObject({
      matches: [{ path: "/workspace/file" }],
    });
    expect(existsSync(trap)).toBe(false);
  });

  function script(text: string): string {
    const path = join(scratchDirectory(), "bwrap");
    chmodSync(join(path, ".."), 0o755);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return path;
  }
});

it("R-38 a sandbox whose directory is gone is lost, and says so", async () => {
  const rootDir = scratchDirectory();
  const opened = await openFor({ rootDir });
  const running = opened.sandbox.execute("sleep 1; echo x > file; echo done");
  await new Promise((resolve) => setTimeout(resolve, 300));
  renameSync(rootDir, `${rootDir}-gone`);
  await expect(running).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  await expect(opened.sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  rmSync(`${rootDir}-gone`, { recursive: true });
});

it.runIf(process.getuid?.() === 0)(
  "as root, commands in somebody's directory are theirs, and what files make there too",
  async () => {
    const rootDir = scratchDirectory();
    chownSync(rootDir, 4321, 4321);
    const opened = await openFor({ rootDir });
    await opened.sandbox.write("/workspace/deep/file.txt", "one\n");
    expect(
      await run(opened, "echo two >> deep/file.txt; cat deep/file.txt; stat -c %u deep deep/file.txt"),
    ).toBe("one\ntwo\n1000\n1000\n");
    expect(await run(opened, "touch made; stat -c %U made")).toBe("agent\n");
  },
);

it("says which machine it is to nobody", async () => {
  const opened = await openFor();
  expect(await run(opened, "hostname; cat /etc/hostname /etc/hosts /proc/sys/kernel/hostname")).not.toContain(
    hostname() === "sandbox" ? "\0" : hostname(),
  );
});

function isRunning(words: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(words);
    } catch {
      return false;
    }
  });
}
