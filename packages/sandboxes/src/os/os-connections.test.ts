import { execFile, execFileSync } from "node:child_process";
import { constants, mkdirSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { openFor, run, scratchDirectory, sockets } from "./os-for-tests.ts";

/** A server of this machine at that path. */
async function listenAt(path: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  const server = createServer((socket) => socket.end("reached"));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

const PLACES = [
  "dev.sock",
  "tmp/run/server.sock",
  ".gnupg/S.agent",
  ".git/fsmonitor--daemon.ipc",
  "locked/a.sock",
];

describe.each(["protect", "allow"] as const)("SB-07 with control files on %s", (controlFiles) => {
  it("sockets that lie in the workspace lead to no program of the machine", async () => {
    const rootDir = scratchDirectory();
    for (const path of PLACES) await listenAt(join(rootDir, path));
    const opened = await openFor({ rootDir, controlFiles, readOnly: ["locked"] });
    for (const path of PLACES) {
      const attempt = sockets.unix(path);
      expect(await run(opened, attempt), path).toMatch(/^(Connection refused|Permission denied)\n\[exit/);
      const { stdout } = await promisify(execFile)("/bin/sh", ["-c", attempt], { cwd: rootDir });
      expect(stdout, "without a sandbox it gets through").toBe("reached");
    }
    for (const attempt of [
      "mv dev.sock other.sock",
      "rm dev.sock",
      "ln dev.sock other.sock",
      "mv tmp moved && cd moved && mv run/server.sock ..",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
  });

  it("pipes neither, and commands have sockets and pipes of their own", async () => {
    const rootDir = scratchDirectory();
    const pipe = join(rootDir, "control.fifo");
    execFileSync("mkfifo", [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await openFor({ rootDir, controlFiles });
    expect(await run(opened, "echo x > control.fifo")).toMatch(/Permission denied[\s\S]*exit/);
    expect(readSync(reader, Buffer.alloc(8))).toBe(0);
    expect(await run(opened, "mkfifo own; (echo through > own &); cat own; rm own")).toBe("through\n");
    const serve =
      "perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Local => q(own.sock), Listen => 1) or die; $c = IO::Socket::UNIX->new(Peer => q(own.sock)) or die; print q(served)'";
    expect(await run(opened, `${serve}; rm own.sock`)).toBe("served");
  });
});

it("nothing is made where a socket was when the sandbox was opened", async () => {
  const rootDir = scratchDirectory();
  await listenAt(join(rootDir, "dev.sock"));
  const opened = await openFor({ rootDir });
  rmSync(join(rootDir, "dev.sock"));
  expect(await run(opened, "echo works")).toBe("works\n");
  await opened.detach();
  expect(readdirSync(rootDir)).toEqual([]);
});
