import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openTokenFile } from "./token-file.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "token-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("a token is made once and kept for its owner alone", async () => {
  const path = join(directory, "home", "token");
  const first = await openTokenFile(path);
  expect(first.created).toBe(true);
  expect(first.token.length).toBeGreaterThanOrEqual(43);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, "home"))).mode & 0o777).toBe(0o700);
  expect(await openTokenFile(path)).toEqual({ ...first, created: false });
});

test("servers that start at once have one token, and leave nothing else behind", async () => {
  for (let round = 0; round < 50; round++) {
    const path = join(directory, `${round}`, "token");
    const tokens = await Promise.all(Array.from({ length: 8 }, () => openTokenFile(path)));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
    expect(tokens.filter(({ created }) => created)).toHaveLength(1);
    expect(await readdir(join(directory, `${round}`))).toEqual(["token"]);
  }
});

test("a file others can read is closed to them, a link is not followed, an empty one is no token", async () => {
  const path = join(directory, "token");
  const { token } = await openTokenFile(path);
  await chmod(path, 0o644);
  expect((await openTokenFile(path)).token).toBe(token);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await symlink(path, join(directory, "link"));
  await expect(openTokenFile(join(directory, "link"))).rejects.toThrow(/not a file of this user/);
  await writeFile(join(directory, "empty"), "");
  await expect(openTokenFile(join(directory, "empty"))).rejects.toThrow(/no token/);
  expect((await readFile(path, "utf8")).trim()).toBe(token);
});

test("a link is refused wherever it leads, and what it leads to stays as it is", async () => {
  const own = join(directory, "own");
  const { token } = await openTokenFile(own);
  await chmod(own, 0o644);
  await symlink(own, join(directory, "to-own"));
  await symlink(join(directory, "nowhere"), join(directory, "to-nothing"));
  for (const name of ["to-own", "to-nothing"])
    await expect(openTokenFile(join(directory, name))).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("is a link"),
    });
  expect((await stat(own)).mode & 0o777).toBe(0o644);
  expect((await readFile(own, "utf8")).trim()).toBe(token);
  expect((await readdir(directory)).sort()).toEqual(["own", "to-nothing", "to-own"]);
});

test("a place where no file can be made says so, and a file that is closed already stays as closed", async () => {
  await expect(openTokenFile(join(directory, "x".repeat(250)))).rejects.toMatchObject({
    code: "ENAMETOOLONG",
  });
  const path = join(directory, "token");
  const { token } = await openTokenFile(path);
  await chmod(path, 0o400);
  expect((await openTokenFile(path)).token).toBe(token);
  expect((await stat(path)).mode & 0o777).toBe(0o400);
});

test("what is no file is refused, and nobody waits for it", async () => {
  execFileSync("mkfifo", [join(directory, "pipe")]);
  await mkdir(join(directory, "folder"));
  for (const name of ["pipe", "folder"])
    await expect(openTokenFile(join(directory, name))).rejects.toThrow(/is not a file of this user/);
  const server = createServer().listen(join(directory, "socket"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  await expect(openTokenFile(join(directory, "socket"))).rejects.toMatchObject({ code: "ENXIO" });
});

test.skipIf(process.getuid?.() !== 0)("a file of another user is refused, and stays as it is", async () => {
  const path = join(directory, "token");
  await openTokenFile(path);
  const text = await readFile(path, "utf8");
  await chmod(path, 0o644);
  await chown(path, 4711, 4711);
  await expect(openTokenFile(path)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("is not a file of this user"),
  });
  expect(await readFile(path, "utf8")).toBe(text);
  expect(await stat(path)).toMatchObject({ uid: 4711, gid: 4711 });
  expect((await stat(path)).mode & 0o777).toBe(0o644);
});
