/** Hidden and read-only paths are so for commands and for file operations alike. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import {
  type BackendProtocol,
  CompositeBackend,
  createDeepAgent,
  FilesystemBackend,
  type FilesystemPermission,
  StateBackend,
} from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../index.ts";
import { osSandbox } from "../os.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";

const REFUSED = { code: "PERMISSION_DENIED" };

function project(): string {
  const rootDir = scratchDirectory();
  for (const path of ["secret/deep/key", "policies/rule.md", "src/a.txt", "odd [x]{y}/z"]) {
    mkdirSync(join(rootDir, path, ".."), { recursive: true });
    writeFileSync(join(rootDir, path), "needle");
  }
  symlinkSync("secret/deep", join(rootDir, "link"));
  return rootDir;
}

const OPTIONS = { hidden: ["secret", "odd [x]{y}"], readOnly: ["policies"] };

describe.each([
  ["of the sandbox", () => undefined, "/workspace"],
  ["of the application", (rootDir: string) => new FilesystemBackend({ rootDir, virtualMode: true }), ""],
])("file operations %s", (_, filesOf, base) => {
  const opened = async (): Promise<{ rootDir: string; files: BackendProtocol }> => {
    const rootDir = project();
    const files = filesOf(rootDir);
    const { sandbox } = await openFor({ rootDir, ...OPTIONS, ...(files && { files }) });
    return { rootDir, files: sandbox };
  };

  it("see nothing of what is hidden", async () => {
    const { files } = await opened();
    for (const path of [
      `${base}/secret/deep/key`,
      `${base}/odd [x]{y}/z`,
      `${base}//secret/./deep/key`,
      `${base}/link/key`,
    ]) {
      expect(await files.read(path), path).toMatchObject(REFUSED);
      expect(await files.readRaw?.(path), path).toMatchObject(REFUSED);
      expect(await files.write(path, "x"), path).toMatchObject(REFUSED);
      expect(await files.edit(path, "needle", "x"), path).toMatchObject(REFUSED);
      expect(await files.delete?.(path), path).toMatchObject(REFUSED);
      expect(await files.downloadFiles?.([path]), path).toMatchObject([{ error: "permission_denied" }]);
      expect(await files.uploadFiles?.([[path, Buffer.from("x")]]), path).toMatchObject([
        { error: "permission_denied" },
      ]);
    }
    expect(await files.write(`${base}/secret/new`, "x")).toMatchObject(REFUSED);
    expect(await files.delete?.(`${base}/secret`)).toMatchObject(REFUSED);
    expect(await files.ls(`${base}/link`)).toMatchObject(REFUSED);
    const names = (await files.ls(base || "/")).files?.map(({ path }) => path);
    expect(names).toEqual([`${base}/link`, `${base}/policies/`, `${base}/src/`]);
    const found = (await files.glob("**/*", base || "/")).files?.map(({ path }) => path);
    expect(found?.sort()).toEqual([`${base}/policies/rule.md`, `${base}/src/a.txt`]);
    const { matches } = await files.grep("needle", base || "/");
    expect(matches?.map(({ path }) => path).sort()).toEqual([
      `${base}/policies/rule.md`,
      `${base}/src/a.txt`,
    ]);
  });

  it("change nothing of what is read-only, and can read it", async () => {
    const { rootDir, files } = await opened();
    const path = `${base}/policies/rule.md`;
    expect(await files.read(path)).toMatchObject({ content: "needle" });
    expect(await files.write(path, "x", { overwrite: true })).toMatchObject(REFUSED);
    expect(await files.edit(path, "needle", "x")).toMatchObject(REFUSED);
    expect(await files.append?.(path, "x")).toMatchObject(REFUSED);
    expect(await files.write(`${base}/policies/new`, "x")).toMatchObject(REFUSED);
    expect(await files.delete?.(path)).toMatchObject(REFUSED);
    expect(await files.delete?.(`${base}/policies`)).toMatchObject(REFUSED);
    expect(await files.write(`${base}/src/b.txt`, "x")).not.toHaveProperty("error");
    expect(readFileSync(join(rootDir, "policies/rule.md"), "utf8")).toBe("needle");
  });
});

it("the stricter of two options counts, for commands too", async () => {
  const rootDir = project();
  mkdirSync(join(rootDir, ".vscode"));
  writeFileSync(join(rootDir, ".vscode/key"), "needle");
  const opened = await openFor({ rootDir, readOnly: ["secret"], hidden: [".vscode", "secret"] });
  expect(await run(opened, "ls .vscode secret; cat .vscode/key secret/deep/key")).not.toContain("needle");
});

describe("permissions beside the os sandbox", () => {
  const deny = (
    operations: FilesystemPermission["operations"],
    ...paths: string[]
  ): FilesystemPermission => ({
    operations,
    paths,
    mode: "deny",
  });

  /** Answers of the tools to the model. */
  async function answers(
    permissions: FilesystemPermission[],
    rootDir: string | undefined,
    calls: readonly { name: string; args: Record<string, unknown> }[],
  ): Promise<string[]> {
    const source = createSandbox({
      provider: osSandbox({ rootDir: rootDir ?? null, stateDir: scratchDirectory() }),
    });
    onTestFinished(() => source.close({ keep: false }));
    const toolCalls = calls.map((call, index) => ({ ...call, id: `call-${index}` }));
    const model = scriptedModel([...toolCalls.map((call) => ({ toolCalls: [call] })), "done"]);
    const backend = new CompositeBackend(source, { "/memories/": new StateBackend() });
    const agent = createDeepAgent({ model, backend, permissions, checkpointer: new MemorySaver() });
    const { messages } = await agent.invoke(
      { messages: "go" },
      { configurable: { thread_id: `closed-${Math.random()}` } },
    );
    return messages.filter((message) => message.getType() === "tool").map(({ text }) => text);
  }

  const execute = (command: string) => ({ name: "execute", args: { command } });
  const read = (file_path: string) => ({ name: "read_file", args: { file_path } });

  it("hold for commands where they deny a path or a directory", async () => {
    const rootDir = project();
    const permissions = [
      deny(["read", "write"], "/workspace/secret/**"),
      deny(["write"], "/workspace/policies", "/workspace/later/**", "/memories/**"),
    ];
    const [file, seen, written, made, other] = await answers(permissions, rootDir, [
      read("/workspace/secret/deep/key"),
      execute("cat secret/deep/key; ls -A secret"),
      execute("echo x > policies/rule.md; rm -r policies; cat policies/rule.md"),
      execute("mkdir later"),
      execute("echo fine > src/b.txt; cat src/b.txt"),
    ]);
    expect(file).toContain("permission denied");
    expect(seen).toContain("No such file or directory");
    expect(written).toMatch(/Read-only file system[\s\S]*needle/);
    expect(made).toContain("'later' was created while the command ran");
    expect(other).toContain("fine");
    expect(readFileSync(join(rootDir, "policies/rule.md"), "utf8")).toBe("needle");
  });

  it("hold in a private directory, from the next command on where nothing was", async () => {
    const [, seen] = await answers([deny(["read"], "/workspace/own")], undefined, [
      execute("mkdir own; echo needle > own/key"),
      execute("cat own/key"),
    ]);
    expect(seen).not.toContain("needle");
  });

  it.each<[FilesystemPermission[], RegExp]>([
    [
      [deny(["read"], "/workspace/src"), deny(["read"], "/workspace/**/.env")],
      /permissions\[1\] \(deny: '\/workspace\/\*\*\/\.env'\) cannot be kept for commands: only a path, or a directory/,
    ],
    [[deny(["write"], "/**")], /permissions\[0\] .* only what lies below '\/workspace' can be closed/],
    [
      [deny(["write"], "/workspace/**")],
      /permissions\[0\] .* only what lies below '\/workspace' can be closed/,
    ],
    [[deny(["read"], "/etc")], /permissions\[0\] \(deny: '\/etc'\) .* only what lies below '\/workspace'/],
    [
      [{ ...deny(["write"], "/workspace/src"), mode: "interrupt" }],
      /permissions\[0\] \(interrupt: '\/workspace\/src'\) .* a command cannot wait for a person/,
    ],
    [
      [
        { operations: ["read"], paths: ["/workspace/secret/public/**"] },
        deny(["read"], "/workspace/secret/**"),
      ],
      /permissions\[1\] .* permissions\[0\] allows something in it/,
    ],
  ])("are refused where they cannot be kept, and the rule is named: %j", async (permissions, words) => {
    await expect(answers(permissions, project(), [execute("true")])).rejects.toMatchObject({
      code: "PERMISSIONS_WITH_EXECUTE",
      message: expect.stringMatching(words),
    });
  });
});
