import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openOutputPipe } from "deepwright/internal";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import type { OsSandboxOptions } from "../os.ts";
import { osSandbox } from "../os.ts";
import { failing, ifThere, tries } from "./escape-attempts-for-tests.ts";
import { findProgram } from "./find-program.ts";
import {
  listeningSocket,
  openFor,
  perlCalls,
  run,
  scratchDirectory,
  sockets,
  waitingCommand,
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
    const places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/run", "/var", "/home", homedir()];
    const name = `deepwright-${Math.random().toString(36).slice(2)}`;
    for (const place of places) {
      const paths = [`${place}/${name}`, `${place}/${name}-directory`];
      const attempt = tries(
        `touch ${paths[0]}`,
        `mkdir ${paths[1]}`,
        `mkdir -p ${place} && touch ${paths[0]}`,
      );
      expect(failing(await run(opened, attempt)), place).toBeUndefined();
      for (const path of paths) expect(existsSync(path), path).toBe(false);
    }
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
    const nc = `busybox nc -w 300 127.0.0.1 ${port} < /dev/null`;
    const attempts = [
      `curl -sS -m 3 http://127.0.0.1:${port}/`,
      "curl -sS -m 3 https://1.1.1.1/",
      `busybox wget -q -T 3 -O - http://127.0.0.1:${port}/`,
      nc,
      ...[...ownAddresses(), "8.8.8.8"].map((host) => `busybox ping -c 1 -W 2 ${host}`),
      ifThere("ssh", `ssh -o ConnectTimeout=3 -o BatchMode=yes -p ${port} 127.0.0.1 true`),
      "getent hosts example.com",
      `(: < /dev/tcp/127.0.0.1/${port})`,
      ...[...ownAddresses(), "127.0.0.1", "10.0.0.1"].map((host) => sockets.tcp(host, port)),
      sockets.raw(),
      sockets.lookup("example.com"),
    ];
    for (const attempt of attempts)
      expect(failing(await run(opened, tries(attempt))), attempt).toBeUndefined();
    // Sent to a loopback of its own, or to nowhere: what counts is that nobody hears it.
    for (const host of [...ownAddresses(), "127.0.0.1"])
      await run(opened, `echo x > /dev/udp/${host}/${port}; ${sockets.udp(host, port)}`);
    expect(server.heard()).toBe(0);
    for (const attempt of [nc, sockets.tcp("127.0.0.1", port), sockets.udp("127.0.0.1", port)])
      await promisify(execFile)("/bin/sh", ["-c", attempt]);
    // Without a sandbox all get through.
    await until(() => server.heard() === 3);
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
    const programs = [
      "su -c id",
      ifThere("sudo", "sudo -n id"),
      "mount -t tmpfs none /tmp",
      "unshare -U id",
      "unshare -r id",
      ifThere("strace", "strace -f true"),
      ifThere("gdb", "! gdb -q -batch -p 1 2>&1 | grep -q 'Operation not permitted'"),
      "nsenter -t 1 -m true",
      "chroot / true",
    ];
    for (const program of programs)
      expect(failing(await run(opened, tries(program))), program).toBeUndefined();
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
    await until(() => !isRunning(`sleep\0${mark}`));
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
      expect(await run(opened, sockets.unix(target)), target).toMatch(/^No such file or directory\n\[exit/);
    expect(await run(opened, sockets.abstract(name))).toMatch(/Connection refused/);
    for (const attempt of [sockets.unix(path), sockets.abstract(name)]) {
      const { stdout } = await promisify(execFile)("/bin/sh", ["-c", attempt]);
      expect(stdout, "without a sandbox it gets through").toBe("reached");
    }
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
    [
      "too old to mount by descriptor",
      () => script("exit 0", 'echo "    --bind SRC DEST"; exit'),
      /has no --bind-fd.*bubblewrap 0\.10 or later.*CVE-2024-42472.*docker/,
    ],
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
      for (const path of [ran, "/usr/deepwright-test", "/deepwright-test"])
        expect(existsSync(path)).toBe(false);
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

  it("SB-09 no bwrap, git, rg or mkfifo of the working directory is started", async () => {
    const rootDir = scratchDirectory();
    const trap = join(scratchDirectory(), "trap");
    mkdirSync(join(rootDir, "bin"));
    for (const name of ["bwrap", "rg", "git", "sh", "mkfifo", "mknod", "setpriv"])
      for (const directory of [rootDir, join(rootDir, "bin")])
        writeFileSync(join(directory, name), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
    process.chdir(rootDir);
    // From the root, where programs of ours start, the relative ones lead to the real programs: they come last.
    process.env.PATH = `${rootDir}:${rootDir}/bin:.:bin::${pathBefore}`;
    await takePipes();
    const opened = await openFor({ rootDir });
    expect(await run(opened, "echo works; echo needle > file")).toBe("works\n");
    expect(await opened.sandbox.grep("needle", "/workspace")).toMatchObject({
      matches: [{ path: "/workspace/file" }],
    });
    expect(existsSync(trap)).toBe(false);
  });

  /** All that are there from other tests: the next command needs a new one, and so `mkfifo`. */
  async function takePipes(): Promise<void> {
    for (const pipe of await Promise.all(Array.from({ length: 32 }, () => openOutputPipe())))
      for (const end of pipe === undefined ? [] : [pipe.readEnd, pipe.writeEnd]) closeSync(end);
  }

  function script(text: string, help = `exec ${findProgram("bwrap", []).path} --help`): string {
    const path = join(scratchDirectory(), "bwrap");
    chmodSync(join(path, ".."), 0o755);
    writeFileSync(path, `#!/bin/sh\nif [ "$1" = --help ]; then ${help}; fi\n${text}\n`, { mode: 0o755 });
    return path;
  }
});

it("R-38 a sandbox whose directory is gone is lost, and says so", async () => {
  const rootDir = scratchDirectory();
  const opened = await openFor({ rootDir });
  const { command, begun } = waitingCommand(rootDir);
  const running = opened.sandbox.execute(`${command}; echo x > file; echo done`);
  await begun();
  renameSync(rootDir, `${rootDir}-gone`);
  waitingCommand(`${rootDir}-gone`).goOn();
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

/** By which this machine is reached from elsewhere. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address);
}

function isRunning(words: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(words);
    } catch {
      return false;
    }
  });
}
