import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../server-for-tests.ts";
import { auth, raw } from "../raw-for-tests.ts";

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "page-"));
  const page = join(folder, "page");
  await mkdir(join(page, "assets"), { recursive: true });
  await writeFile(join(folder, "secret.txt"), "secret");
  await writeFile(join(page, "index.html"), "<!doctype html><title>page</title>");
  await writeFile(join(page, "assets", "index-AbCd1234.js"), "1;");
  await writeFile(join(page, "notes.md"), "not of the page");
  await symlink("../secret.txt", join(page, "link.txt"));
  server = await startServer({ page });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test("the page is for everyone; index.html is asked for again, hashed names never", async () => {
  for (const path of ["/", "/index.html"]) {
    const index = await raw(server, "GET", path, {});
    expect(index).toMatchObject({ status: 200, text: "<!doctype html><title>page</title>" });
    expect(index.headers["cache-control"]).toBe("no-cache");
  }
  const script = await raw(server, "GET", "/assets/index-AbCd1234.js", {});
  expect(script.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect((await raw(server, "HEAD", "/", {})).text).toBe("");
});

test("WB-03 browsers get a policy without inline scripts, styles, frames and other origins", async () => {
  const { headers } = await raw(server, "GET", "/", {});
  const policy = String(headers["content-security-policy"]);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ])
    expect(policy.split("; ")).toContain(part);
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
  });
});

test("nothing else of the folder or beside it is handed out, and other hosts get nothing", async () => {
  for (const path of [
    "/notes.md",
    "/link.txt",
    "/../secret.txt",
    "/assets/%2e%2e/%2e%2e/secret.txt",
    "/assets",
  ]) {
    expect((await raw(server, "GET", path, {})).text).not.toBe("secret");
    expect([400, 401, 404]).toContain((await raw(server, "GET", path, {})).status);
  }
  expect((await raw(server, "GET", "/", { host: "evil.com" })).status).toBe(403);
  expect((await raw(server, "POST", "/", {}, "")).status).toBe(401);
  expect((await raw(server, "GET", "/info", auth)).status).toBe(200);
});

test("a folder without index.html ends the start", async () => {
  await expect(startServer({ page: join(folder, "page", "assets") })).rejects.toMatchObject({
    code: "INVALID_OPTION",
  });
});
