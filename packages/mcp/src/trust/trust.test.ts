import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linesOf, opened, projectWith, scratch, toolsProgram } from "../mcp-for-tests.ts";
import type { TrustRequest } from "../mcp-types.ts";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";
import { openTrustStore } from "./trust-store.ts";

test("TR-02 nothing of a project's server runs before a yes, which holds for exactly that definition", async () => {
  const [home, log] = [await scratch(), join(await scratch(), "log")];
  const project = await projectWith({ tools: toolsProgram(log) });
  const refused = await opened({ project, home });
  expect(refused.mcp.servers).toMatchObject([
    { name: "tools", origin: "project", state: "untrusted", tools: [] },
  ]);
  expect(refused.codes()).toEqual(["UNTRUSTED"]);
  expect((await opened({ project, home, trust: () => false })).codes()).toEqual(["UNTRUSTED"]);
  expect(await linesOf(log)).toEqual([]);

  const asked: TrustRequest[] = [];
  const trust = (request: TrustRequest): boolean => asked.push(request) > 0;
  expect((await opened({ project, home, trust })).mcp.servers[0]?.state).toBe("ready");
  expect(asked).toMatchObject([{ name: "tools", project, definition: toolsProgram(log), variables: [] }]);
  expect((await stat(join(home, "mcp-trust.json"))).mode & 0o777).toBe(0o600);
  expect(await linesOf(log)).toHaveLength(1);
  expect((await opened({ project, home })).codes()).toEqual([]);

  const { args = [] } = toolsProgram(log);
  for (const changed of [
    { command: "/bin/sh", args: ["-c", `echo evil >> ${log}`] },
    { ...toolsProgram(log), args: [...args, "--more"] },
    { ...toolsProgram(log), env: { A: "b" } },
  ]) {
    await writeFile(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { tools: changed } }));
    expect((await opened({ project, home })).codes()).toEqual(["UNTRUSTED"]);
  }
  const elsewhere = await projectWith({ tools: toolsProgram(log) });
  expect((await opened({ project: elsewhere, home })).codes()).toEqual(["UNTRUSTED"]);
  expect(await linesOf(log)).not.toContain("evil");
});

test("TR-02 the variables a definition names are shown, and read only after a yes", async () => {
  const project = await projectWith({
    leak: { url: `https://example.invalid/$${"{SECRET_KEY}"}`, headers: { a: `$${"{OTHER:-x}"}` } },
  });
  const environment = new Proxy({} as Record<string, string>, {
    get: (_, name) => {
      throw new Error(`${String(name)} was read`);
    },
  });
  const asked: TrustRequest[] = [];
  const trust = (request: TrustRequest): boolean => asked.push(request) < 0;
  const { codes } = await opened({ project, environment, trust });
  expect(codes()).toEqual(["UNTRUSTED"]);
  expect(asked[0]?.variables).toEqual(["OTHER", "SECRET_KEY"]);
});

test("a server of the user's own takes the place of a project's with its name, also one that is switched off", async () => {
  const [home, log] = [await scratch(), join(await scratch(), "log")];
  const evil = { command: "/bin/sh", args: ["-c", `echo evil >> ${log}`] };
  const project = await projectWith({ tools: evil, noisy: evil });
  const own = { mcpServers: { tools: toolsProgram(), noisy: { disabled: true } } };
  await writeFile(join(home, "mcp.json"), JSON.stringify(own));
  const { mcp, codes } = await opened({ project, home, trust: () => true });
  expect(mcp.servers.map(({ name, origin, state }) => [name, origin, state])).toEqual([
    ["noisy", "user", "disabled"],
    ["tools", "user", "ready"],
  ]);
  expect(codes()).toEqual(["SHADOWED"]);
  expect(await linesOf(log)).toEqual([]);
});

test("a list of agreements that others could write is closed to them, and one that is none trusts nothing", async () => {
  const home = await scratch();
  const project = await projectWith({ tools: toolsProgram() });
  const path = join(home, "mcp-trust.json");
  await writeFile(path, "[]");
  await expect(opened({ project, home, trust: () => true })).rejects.toThrow(
    "not the list of trusted MCP servers",
  );
  await writeFile(path, JSON.stringify({ version: 1, trusted: {} }));
  await chmod(path, 0o666);
  await opened({ project, home });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.runIf(process.getuid?.() === 0)(
  "a list of agreements that belongs to another user is refused",
  async () => {
    const home = await scratch();
    const project = await projectWith({ tools: toolsProgram() });
    await opened({ project, home, trust: () => true });
    const path = join(home, "mcp-trust.json");
    await chown(path, 12_345, 12_345);
    await expect(opened({ project, home, trust: () => true })).rejects.toThrow("a file of another user");
    await chown(path, 0, 0);
    expect((await opened({ project, home })).codes()).toEqual([]);
  },
);

test("a list of agreements that is closed already stays as closed", async () => {
  const path = join(await scratch(), "list");
  await writePrivateFile(path, "text");
  await chmod(path, 0o400);
  expect(await readPrivateFile(path)).toBe("text");
  expect((await stat(path)).mode & 0o777).toBe(0o400);
});

test("a list of agreements that is a link, or no file, is refused", async () => {
  const [home, other] = [await scratch(), await scratch()];
  const project = await projectWith({ tools: toolsProgram() });
  await opened({ project, home: other, trust: () => true });
  const list = join(other, "mcp-trust.json");
  await symlink(list, join(home, "mcp-trust.json"));
  await expect(opened({ project, home })).rejects.toThrow("is a link");
  await mkdir(join(other, "deep", "mcp-trust.json"), { recursive: true });
  await expect(opened({ project, home: join(other, "deep") })).rejects.toThrow("is not a file");
  expect(JSON.parse(await readFile(list, "utf8")).version).toBe(1);
});

const subject = (project: string, name: string) => ({ project, name, definition: { command: "x" } });
const tool = { name: "a", description: "A.", inputSchema: { type: "object" } };

test.each([["a file"], ["memory"]])(
  "an agreement in %s is taken back by project and name, alone",
  async (kind) => {
    const path = kind === "memory" ? undefined : join(await scratch(), "trust.json");
    const store = openTrustStore(path);
    const all = [subject("/one", "a"), subject("/one", "b"), subject("/two", "a")] as const;
    for (const one of all) {
      await store.add(one);
      await store.listed(one, [tool], []);
      await store.listed(one, [{ ...tool, description: "B." }], [tool]);
    }
    expect(await store.remove("/three", "a")).toBe(false);
    expect(await store.remove("/one", "a")).toBe(true);
    expect(await store.remove("/one", "a")).toBe(false);
    expect(await Promise.all(all.map((one) => store.has(one)))).toEqual([false, true, true]);
    const waiting = await Promise.all(all.map((one) => store.changedTools(one)));
    expect(waiting.map(({ length }) => length)).toEqual([0, 1, 1]);
  },
);

test("a list of agreements is written only when it changes, and an error of it is not lost", async () => {
  const home = await scratch();
  const path = join(home, "trust.json");
  const store = openTrustStore(path);
  await store.add(subject("/one", "a"));
  const { ino } = await stat(path);
  expect(await store.remove("/one", "b")).toBe(false);
  expect((await stat(path)).ino).toBe(ino);
  await mkdir(join(home, "folder"));
  await expect(writePrivateFile(join(home, "folder"), "x")).rejects.toThrow();
  expect((await readdir(home)).sort()).toEqual(["folder", "trust.json"]);
});

test("agreements that are made side by side are all kept", async () => {
  const store = openTrustStore(join(await scratch(), "trust.json"));
  const all = Array.from({ length: 30 }, (_, index) => subject("/one", `server-${index}`));
  const made: Promise<void>[] = [];
  for (const one of all) {
    await made.at(-2);
    made.push(store.add(one));
  }
  await Promise.all(made);
  expect(await Promise.all(all.map((one) => store.has(one)))).toEqual(all.map(() => true));
});

test.each([
  ["{", "is not JSON"],
  ['{"servers": {}}', "unknown key 'servers'; servers stand in 'mcpServers'"],
  ["[]", "must be"],
])("a config file with %j is refused by its name", async (text, words) => {
  const project = await scratch();
  await writeFile(join(project, ".mcp.json"), text);
  await expect(opened({ project })).rejects.toThrow(words);
});
