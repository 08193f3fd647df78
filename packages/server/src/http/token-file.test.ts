import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
