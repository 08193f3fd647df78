import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import { sandboxSuite } from "../../testing/sandbox-suite/sandbox-suite.ts";
import { LocalShellBackend } from "./local-shell.ts";
import { scratchDirectory, shellIn } from "./shell-for-tests.ts";

/** The cases wait more than they work, so they run side by side. */
for (const virtualMode of [true, false])
  sandboxSuite(
    { describe, test: test.concurrent },
    {
      name: `LocalShellBackend with virtualMode ${virtualMode}`,
      size: virtualMode ? "full" : sized("small", "full"),
      open: () => {
        const rootDir = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-shell-")));
        const backend = new LocalShellBackend({ rootDir, virtualMode });
        const close = () => rmSync(rootDir, { recursive: true, force: true });
        return { backend, root: virtualMode ? "/" : rootDir, close };
      },
      timeoutMs: 600_000,
    },
  );

describe("LocalShellBackend", () => {
  it("has an id of its own that says where it runs", () => {
    expect(new LocalShellBackend().id).toMatch(/^local-[0-9a-f]{16}$/);
    expect(new LocalShellBackend().id).not.toBe(new LocalShellBackend().id);
  });

  it("shares the paths of the host with its commands, or says how they differ", async () => {
    const rootDir = scratchDirectory();
    const same = new LocalShellBackend({ rootDir });
    await same.execute(`echo shared > ${rootDir}/a.txt`);
    expect(await same.read(`${rootDir}/a.txt`)).toMatchObject({ content: "shared\n" });
    expect(same.commandNote).toContain(`\`${rootDir}\``);
    const virtual = new LocalShellBackend({ rootDir, virtualMode: true });
    expect((await virtual.execute("cat ./a.txt")).output).toBe("shared\n");
    expect(virtual.commandNote).toContain("write `./a/b` for the file `/a/b`");
    expect(virtual.commandNote).not.toContain(rootDir);
  });

  it("makes its directory and initial files, and leaves a file alone that is there", async () => {
    const rootDir = join(scratchDirectory(), "not", "yet");
    const options = { rootDir, virtualMode: true, initialFiles: { "/a.txt": "a", "/dir/b.txt": "b" } };
    const backend = await LocalShellBackend.create(options);
    expect([backend.isInitialized, backend.isRunning]).toEqual([true, true]);
    expect((await backend.execute("cat a.txt dir/b.txt")).output).toBe("ab");
    writeFileSync(join(rootDir, "a.txt"), "mine");
    await LocalShellBackend.create(options);
    expect(readFileSync(join(rootDir, "a.txt"), "utf8")).toBe("mine");
  });

  it("FS-22 a directory that cannot be made is told of without its path", async () => {
    const file = join(scratchDirectory(), "file");
    writeFileSync(file, "");
    const backend = new LocalShellBackend({ rootDir: join(file, "sub"), virtualMode: true });
    await expect(backend.execute("true")).rejects.toMatchObject({
      code: "FILE_OPERATION_FAILED",
      message: "The working directory cannot be made (ENOTDIR).",
    });
  });

  it("is initialized by its first command, once, or by hand, once", async () => {
    const rootDir = join(scratchDirectory(), "new");
    const backend = new LocalShellBackend({ rootDir, virtualMode: true, initialFiles: { "/a": "1" } });
    expect([backend.isInitialized, existsSync(rootDir)]).toEqual([false, false]);
    const both = await Promise.all([backend.execute("cat a"), backend.execute("cat a")]);
    expect(both.map(({ output }) => output)).toEqual(["1", "1"]);
    await expect(backend.initialize()).rejects.toMatchObject({ code: "ALREADY_INITIALIZED" });
  });

  it("tells which initial file could not be made", async () => {
    const options = { rootDir: scratchDirectory(), virtualMode: true, initialFiles: { "../x": "" } };
    await expect(LocalShellBackend.create(options)).rejects.toMatchObject({ code: "FILE_OPERATION_FAILED" });
  });

  it("ends what runs when it is closed, twice too, and can be used again", async () => {
    const rootDir = scratchDirectory();
    const backend = shellIn({ rootDir });
    const running = backend.execute(": > begun; sleep 600");
    const ended = expect(running).rejects.toMatchObject({ name: "SandboxError", code: "NOT_INITIALIZED" });
    await until(() => existsSync(join(rootDir, "begun")));
    await backend.close();
    await ended;
    await backend.close();
    expect(backend.isRunning).toBe(false);
    expect((await backend.execute("echo again")).output).toBe("again\n");
  });

  it("uses its own time limit and variables", async () => {
    expect((await shellIn({ timeout: 0.5 }).execute("sleep 600")).exitCode).toBe(124);
    const backend = shellIn({ env: { GREETING: "hello" }, maxOutputBytes: 20 });
    expect((await backend.execute("echo $GREETING")).output).toBe("hello\n");
    expect((await backend.execute("yes | head -n 100")).truncated).toBe(true);
    await expect(backend.execute("true", { timeout: 0 })).rejects.toMatchObject({ code: "INVALID_COMMAND" });
  });

  it.each([
    ["an unknown option", { timeOut: 1 }, "UNKNOWN_OPTION"],
    ["no time", { timeout: 0 }, "INVALID_OPTION"],
    ["no room for output", { maxOutputBytes: -1 }, "INVALID_OPTION"],
    ["a bad option of the files", { maxFileSizeMb: "many" }, "INVALID_OPTION"],
  ])("refuses %s", (_name, options, code) => {
    expect(() => new LocalShellBackend(options as object)).toThrow(expect.objectContaining({ code }));
  });

  it("takes null for absent", () => {
    const options = { timeout: null, maxOutputBytes: null, env: null, inheritEnv: null, initialFiles: null };
    expect(() => new LocalShellBackend({ ...options, rootDir: null })).not.toThrow();
  });
});

class NotingSaver extends MemorySaver {
  readonly noted: unknown[] = [];

  async recordImage(_config: unknown, image: unknown): Promise<void> {
    this.noted.push(image);
  }
}

describe("an agent on LocalShellBackend", () => {
  it("runs commands between file tools, and each command is noted with the thread", async () => {
    const rootDir = scratchDirectory();
    const saver = new NotingSaver();
    const model = scriptedModel([
      callTool("write_file", { file_path: "/a.sh", content: "echo from a file; exit 3\n" }),
      callTool("execute", { command: "sh ./a.sh", timeout: "300" }),
      "done",
    ]);
    const backend = new LocalShellBackend({ rootDir, virtualMode: true });
    const agent = createDeepAgent({ model, backend, checkpointer: saver });
    const result = await agent.invoke(
      { messages: [{ role: "user", content: "go" }] },
      { configurable: { thread_id: "t1" } },
    );
    const answers = result.messages.filter((message) => message.getType() === "tool");
    expect(answers[1]).toMatchObject({
      name: "execute",
      status: "error",
      content: "from a file\n[Failed: exit code 3]",
    });
    expect(model.calls[0]?.messages[0]?.text).toContain("write `./a/b` for the file `/a/b`");
    expect(saver.noted).toMatchObject([
      { path: "/a.sh" },
      { place: `command:${rootDir}`, path: "sh ./a.sh" },
    ]);
  });
});
