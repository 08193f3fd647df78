import { createDeepAgent } from "deepwright";
import { backendSuite, sandboxSuite, scriptedModel } from "deepwright/testing";
import { afterAll, describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { type HarborEnvironment, harborSandbox } from "../harbor.ts";
import { createSandbox } from "../index.ts";
import { BORROWED, expectLeftOut } from "../lease/left-out-for-tests.ts";
import { MachineForTests } from "../remote/machine-for-tests.ts";
import { leaseSuite } from "../testing.ts";

const HOME = "/home/user";
const machine = await MachineForTests.create({ paths: [HOME] });
afterAll(() => machine.kill());

/** Nothing but `exec`, which complains about the terminal as bash does, and has no time-out of its own. */
const environment: HarborEnvironment & { commands: string[] } = {
  commands: [],
  exec: async (command) => {
    environment.commands.push(command);
    const { exitCode, stdout, stderr } = await machine.shell(command).exited;
    return {
      stdout: stdout.toString("utf8"),
      stderr: `bash: cannot set terminal process group (-1): Inappropriate ioctl for device\nbash: no job control in this shell\n${stderr}`,
      return_code: exitCode,
    };
  },
};

let count = 0;
async function open() {
  count += 1;
  const root = `${HOME}/case-${count}`;
  await machine.makeDirectory(root);
  const backend = harborSandbox({ environment, workingDirectory: HOME });
  return { backend, root, close: () => machine.remove(root) };
}

// Cases wait more than they work, and each has a directory of its own.
sandboxSuite(
  { describe, test: test.concurrent },
  { name: "an environment as a sandbox", size: sized("small", "full"), open, timeoutMs: 600_000 },
);

const borrowed = leaseSuite(
  { describe, test },
  {
    name: "leases of an environment",
    provider: () =>
      harborSandbox({ environment: { ...environment, id: "the-environment" }, workingDirectory: HOME }),
    sharesFiles: true,
    timeoutMs: 600_000,
  },
);
expectLeftOut(borrowed, BORROWED);

const FILES = "the files of an environment";

/** How bytes get in and out; the rest is that of every remote machine. */
backendSuite(
  {
    describe: (name, body) => {
      if (name === FILES || name === "transfer") describe(name, body);
    },
    test,
  },
  {
    name: FILES,
    open,
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
    runs: 1,
  },
);

describe("harborSandbox", () => {
  const sandbox = harborSandbox({ environment, workingDirectory: HOME });

  test("is a backend for an agent as it is", async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: "execute", args: { command: "echo from the environment" } }] },
      "done",
    ]);
    const agent = createDeepAgent({ model, backend: sandbox });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
    expect(messages.map(({ text }) => text).join("\n")).toContain("from the environment");
  });

  test("createSandbox leases it to threads, sets it up once, and leaves it to its owner", async () => {
    const directory = `${HOME}/leased`;
    await machine.makeDirectory(directory);
    const provider = harborSandbox({ environment, workingDirectory: directory });
    const setupScript = "echo $WHO >> set-up.txt";
    const source = createSandbox({ provider, setupScript, env: { WHO: "a lease" } });
    const [one, other] = await Promise.all([source.lease("one"), source.lease("other")]);
    expect((await one.sandbox.execute("echo by one > file.txt; cat set-up.txt")).output).toContain(
      "a lease\n",
    );
    expect(await other.sandbox.read(`${directory}/file.txt`)).toMatchObject({ content: "by one\n" });
    await one.release();
    await one.release();
    await expect(one.sandbox.execute("true")).rejects.toThrow();
    expect((await other.sandbox.execute("cat file.txt")).output).toBe("by one\n");
    await source.close({ keep: false });
    expect((await provider.execute("cat file.txt")).output).toBe("by one\n");
    await machine.remove(directory);
  });

  test("a set-up that failed is tried again in it, since it did not end with it", async () => {
    const directory = `${HOME}/set-up`;
    await machine.makeDirectory(directory);
    const provider = harborSandbox({ environment, workingDirectory: directory });
    const source = createSandbox({ provider, setupScript: "echo try >> tries; test -e allowed" });
    await expect(source.lease("one")).rejects.toMatchObject({ code: "SETUP_FAILED" });
    await provider.execute("touch allowed");
    const lease = await source.lease("two");
    expect((await lease.sandbox.execute("cat tries")).output).toBe("try\ntry\n");
    await source.close({ keep: false });
    await machine.remove(directory);
  });

  test("in an agent, a thread finds what it left in the environment", async () => {
    const source = createSandbox({ provider: harborSandbox({ environment, workingDirectory: HOME }) });
    const model = scriptedModel([
      { toolCalls: [{ name: "execute", args: { command: "echo noted > agent-note.txt" } }] },
      "done",
      { toolCalls: [{ name: "read_file", args: { file_path: `${HOME}/agent-note.txt` } }] },
      "done",
    ]);
    const agent = createDeepAgent({ model, backend: source });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [{ role: "user", content: "write" }] }, thread);
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "read" }] }, thread);
    expect(messages.map(({ text }) => text).join("\n")).toContain("noted");
    await source.close();
  });

  test("no content and no name is part of a command's code", async () => {
    environment.commands.length = 0;
    const [response] = await sandbox.uploadFiles([[`${HOME}/it's $(id).txt`, Buffer.from("'; rm -rf / #")]]);
    expect(response?.error).toBeNull();
    expect(environment.commands.join("\n")).not.toMatch(/rm -rf \/ #|\$\(id\)/);
    const [back] = await sandbox.downloadFiles([`${HOME}/it's $(id).txt`]);
    expect(back?.content && Buffer.from(back.content).toString()).toBe("'; rm -rf / #");
  });

  test("a large file takes several commands, each short enough for one argument", async () => {
    environment.commands.length = 0;
    const bytes = Buffer.alloc(300_000, 7);
    await sandbox.uploadFiles([[`${HOME}/large.bin`, bytes]]);
    expect(environment.commands.length).toBe(4);
    expect(Math.max(...environment.commands.map((command) => command.length))).toBeLessThan(128 * 1024);
    const [back] = await sandbox.downloadFiles([`${HOME}/large.bin`]);
    expect(back?.content && Buffer.compare(back.content, bytes)).toBe(0);
  });

  test("an environment that cuts its output short gives whole files all the same", async () => {
    const exec: HarborEnvironment["exec"] = async (command) => {
      const result = await environment.exec(command);
      return { ...result, stdout: (result.stdout ?? "").slice(0, 20_000) };
    };
    const cutting = harborSandbox({ environment: { exec }, workingDirectory: HOME });
    const bytes = Buffer.from("0123456789".repeat(5000));
    await cutting.uploadFiles([[`${HOME}/cut.txt`, bytes]]);
    const [back] = await cutting.downloadFiles([`${HOME}/cut.txt`]);
    expect(back?.content && Buffer.compare(back.content, bytes)).toBe(0);
  });

  test("its own ways to move files are used where it has them", async () => {
    const files = new Map<string, Uint8Array>();
    const own = harborSandbox({
      environment: {
        ...environment,
        uploadFile: async (path, bytes) => void files.set(path, bytes),
        downloadFile: async (path) => {
          const bytes = files.get(path);
          if (!bytes) throw new Error("no such thing");
          return bytes;
        },
      },
      workingDirectory: HOME,
    });
    await own.uploadFiles([["own.txt", Buffer.from("own")]]);
    expect([...files.keys()]).toEqual([`${HOME}/own.txt`]);
    const [there, missing] = await own.downloadFiles(["own.txt", "none.txt"]);
    expect(there?.content && Buffer.from(there.content).toString()).toBe("own");
    expect(missing?.error).toBe("file_not_found");
  });

  test("an environment that throws is a SANDBOX_UNAVAILABLE with its words", async () => {
    const broken = harborSandbox({
      environment: { exec: async () => Promise.reject(new Error("the task is over")) },
    });
    await expect(broken.execute("true")).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringContaining("the task is over"),
    });
  });

  test("an environment that never answers is given up when the time is up", async () => {
    const hanging = harborSandbox({ environment: { exec: () => new Promise(() => undefined) } });
    expect((await hanging.execute("true", { timeout: 1 })).exitCode).toBe(124);
  });

  test("exit codes are read however they are spelled", async () => {
    for (const name of ["exitCode", "exit_code", "return_code"]) {
      const spelled = harborSandbox({
        environment: { exec: async () => ({ stdout: "no shell", [name]: 127 }) },
      });
      expect(await spelled.execute("true")).toMatchObject({ exitCode: 127, output: "no shell" });
    }
  });

  test("what has no `exec` is refused when it is put together", () => {
    expect(() => harborSandbox({ environment: {} as HarborEnvironment })).toThrow(/needs an environment/);
  });
});
