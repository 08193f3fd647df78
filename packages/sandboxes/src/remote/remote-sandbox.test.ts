import { SandboxError } from "deepwright";
import { afterAll, describe, expect, test } from "vitest";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { MachineFailure, MachineForTests } from "./machine-for-tests.ts";
import { untilEnded, untilRunning } from "./processes-for-tests.ts";
import {
  type MachineRunOptions,
  type MachineRunResult,
  type RemoteMachine,
  RemoteSandbox,
  type RemoteSandboxOptions,
} from "./remote-sandbox.ts";

const HOME = "/home/user";
const machine = await MachineForTests.create({ paths: [HOME] });
afterAll(() => machine.kill());

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

async function runLine(line: string, env: Record<string, string> = {}): Promise<MachineRunResult> {
  const { exitCode, stdout, stderr } = await machine.shell(line, { env }).closed;
  return { output: Buffer.concat([stdout, stderr]).toString("utf8"), exitCode };
}

/** A vendor that says nothing about why a transfer failed, and makes no directories. */
function vendor(changes: Partial<RemoteMachine> = {}): RemoteMachine {
  return {
    id: "remote",
    workingDirectory: HOME,
    run: (line) => runLine(line),
    put: (path, bytes) => machine.writeFile(path, bytes).then(() => undefined, unclear),
    get: (path) => machine.readFile(path).catch(unclear),
    ...changes,
  };
}

function unclear(error: unknown): "unclear" {
  if (error instanceof MachineFailure) return "unclear";
  throw error;
}

function sandboxWith(
  run: (line: string, options: MachineRunOptions) => Promise<MachineRunResult>,
  options?: RemoteSandboxOptions,
): RemoteSandbox {
  return new RemoteSandbox(vendor({ run }), options);
}

let count = 0;
function newDirectory(): string {
  count += 1;
  return `${HOME}/${count}`;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return SandboxError.isInstance(error) ? error.code : String(error);
}

describe("a vendor that does not keep its word", () => {
  test("one that never answers is answered for with 124, and the command is ended", async () => {
    const never = new Promise<never>(() => undefined);
    const word = "3141.51";
    const sandbox = sandboxWith(async (line) => {
      const result = await runLine(line);
      // The answer to the command is lost; the second call, which ends it, gets through.
      return result.output === "" ? result : never;
    });
    const response = await sandbox.execute(`sleep ${word}`, { timeout: 0.5 });
    expect(response).toEqual({ output: "", exitCode: 124, truncated: false });
    await untilEnded(machine, word);
  });

  test("one whose connection breaks leaves no command running", async () => {
    const word = "3141.52";
    let isFirst = true;
    const sandbox = sandboxWith(async (line) => {
      const answer = runLine(line);
      if (!isFirst) return answer;
      isFirst = false;
      await untilRunning(machine, word);
      throw new SandboxError("the connection broke", "SANDBOX_UNAVAILABLE");
    });
    expect(await codeOf(sandbox.execute(`sleep ${word}`))).toBe("SANDBOX_UNAVAILABLE");
    await untilEnded(machine, word);
  });

  test("one that delivers late does not run what was aborted meanwhile", async () => {
    const file = newDirectory();
    const delivered: Promise<MachineRunResult>[] = [];
    let isStopped = false;
    const sandbox = sandboxWith(async (line) => {
      const isFirst = delivered.length === 0;
      const answer = isFirst ? until(() => isStopped).then(() => runLine(line)) : runLine(line);
      delivered.push(answer);
      const result = await answer;
      if (!isFirst) isStopped = true;
      return result;
    });
    const controller = new AbortController();
    const reason = new Error("enough");
    const run = sandbox.execute(`echo ran > ${file}`, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(run).rejects.toBe(reason);
    await Promise.all(delivered);
    await expect(machine.readFile(file)).rejects.toThrow("ENOENT");
  });

  test("one that delivers twice runs a command once", async () => {
    const file = newDirectory();
    const wait = `until [ -e ${file}-go ]; do sleep 0.1; done`;
    const sandbox = sandboxWith(async (line) => {
      const first = runLine(line);
      await untilRunning(machine, wait);
      await runLine(line);
      await machine.writeFile(`${file}-go`, utf8(""));
      return first;
    });
    const { exitCode } = await sandbox.execute(`echo ran >> ${file}; ${wait}`);
    expect([exitCode, (await machine.readFile(file)).toString()]).toEqual([0, "ran\n"]);
  });

  test("one that adds banners, trims, and tells another exit code changes nothing", async () => {
    const sandbox = sandboxWith(async (line) => {
      const { output } = await runLine(line);
      return { output: `Welcome!\r\n${output.replaceAll("\n", "\r\n").trim()}\r\n[exited]`, exitCode: 0 };
    });
    const response = await sandbox.execute("printf '  a\\n\\n'; exit 3");
    expect(response).toEqual({ output: "  a\n\n", exitCode: 3, truncated: false });
  });

  test("one that ends the shell is told by its exit code; one that says all is well is not believed", async () => {
    const killed = sandboxWith(async () => ({ output: "Killed\n", exitCode: 137 }));
    expect(await killed.execute("true")).toEqual({ output: "Killed\n", exitCode: 137, truncated: false });
    const odd = sandboxWith(async () => ({ output: "", exitCode: 0 }));
    expect(await codeOf(odd.execute("true"))).toBe("COMMAND_FAILED");
    const gone = new RemoteSandbox(
      vendor({ run: async () => ({ output: "", exitCode: 137 }), isGone: async () => true }),
    );
    expect(await codeOf(gone.execute("true"))).toBe("SANDBOX_LOST");
  });
});

describe("commands", () => {
  const sandbox = new RemoteSandbox(vendor(), { env: { GREETING: "it's $HOME\nand more", d: "1", c: "2" } });

  test("see the variables they were given, whatever is in them", async () => {
    const { output } = await sandbox.execute('printf "%s|%s|%s" "$GREETING" "$d" "$c"');
    expect(output).toBe("it's $HOME\nand more|1|2");
  });

  test("a variable no shell can have is refused when the sandbox is made", () => {
    expect(() => new RemoteSandbox(vendor(), { env: { "A-B": "1" } })).toThrow("A-B");
    expect(() => new RemoteSandbox(vendor(), { env: { A: "a\0b" } })).toThrow("'A'");
  });

  test.each(["", "  "])("the command %j fails with exit code 1", async (command) => {
    expect(await sandbox.execute(command)).toMatchObject({ exitCode: 1 });
  });

  test.each(["a\0b", "\ud800"])("%j is no command", async (command) => {
    expect(await codeOf(sandbox.execute(command))).toBe("INVALID_COMMAND");
  });

  test("one that is too long to be sent is told to be a file", async () => {
    const long = sandbox.execute(`: ${"x".repeat(200_000)}`);
    await expect(long).rejects.toThrow("write it to a file");
    expect(await codeOf(long)).toBe("INVALID_COMMAND");
  });

  test("a flood crosses the network as its beginning and its end", async () => {
    let crossed = 0;
    const counted = sandboxWith(async (line) => {
      const result = await runLine(line);
      crossed += result.output.length;
      return result;
    });
    const { output, truncated } = await counted.execute("echo first; yes | head -c 20000000; echo last");
    expect([output.startsWith("first\n"), output.endsWith("last\n"), truncated]).toEqual([true, true, true]);
    expect(crossed).toBeLessThan(140_000);
  });

  test("output that just fits is whole, and one byte more is not", async () => {
    const small = sandboxWith((line) => runLine(line), { maxOutputBytes: 10 });
    expect(await small.execute("printf 0123456789")).toMatchObject({
      output: "0123456789",
      truncated: false,
    });
    expect(await small.execute("printf 0123456789a")).toMatchObject({
      output: "01234\n[… output left out …]\n6789a",
      truncated: true,
    });
  });

  test("a process that leaves the session and clears its environment does not hold up the answer", async () => {
    const response = await sandbox.execute("env -i setsid sleep 3141.55 & echo started");
    expect([response.exitCode, response.output]).toEqual([0, "started\n"]);
  });

  test("a process that only leaves the session ends with its command", async () => {
    const word = "3141.53";
    await sandbox.execute(`setsid sleep ${word} & sleep 0.3`);
    await untilEnded(machine, word);
  });

  test("a working directory that is not there is made", async () => {
    const directory = `${newDirectory()}/it's deep`;
    const elsewhere = new RemoteSandbox(vendor({ workingDirectory: directory }));
    expect((await elsewhere.execute("pwd")).output).toBe(`${directory}\n`);
    const nowhere = new RemoteSandbox(vendor({ workingDirectory: "/proc/none" }));
    expect(await codeOf(nowhere.execute("pwd"))).toBe("COMMAND_FAILED");
  });

  test("run where there is a POSIX shell and the core utilities, and nothing more", async () => {
    const tools =
      "sh cat dd head tail mkdir mkfifo rm base64 tr sleep env echo printf true false kill seq wc sort ls".split(
        " ",
      );
    await runLine(
      `mkdir -p /tmp/tools && for t in ${tools.join(" ")}; do ln -sf /usr/bin/$t /tmp/tools/$t; done`,
    );
    const bare = sandboxWith((line) => runLine(line, { PATH: "/tmp/tools" }));
    expect(await bare.execute("echo out; echo err >&2; exit 4")).toMatchObject({
      output: "out\nerr\n",
      exitCode: 4,
    });
    const word = "3141.54";
    // An answer that comes too long after the second is given up, and its output with it.
    await eventually(async () => {
      const late = await bare.execute(`echo early; sleep ${word} & sleep ${word}`, { timeout: 1 });
      expect(late).toMatchObject({ output: "early\n", exitCode: 124 });
    });
    await untilEnded(machine, word);
  });

  test("leave nothing behind in the sandbox", async () => {
    const there = async (): Promise<string[]> =>
      (await runLine("ls -A /tmp; pgrep -xa sleep; pgrep -xa cat")).output.split("\n");
    const commands = [["true"], ["sleep 600", { timeout: 1 }], ["sleep 0.1 & true"]] as const;
    // An answer that is given up may leave an empty file.
    await eventually(async () => {
      const before = await there();
      for (const [command, options] of commands) await sandbox.execute(command, options);
      expect((await there()).filter((line) => !before.includes(line))).toEqual([]);
    });
  });
});

describe("transfers", () => {
  const sandbox = new RemoteSandbox(vendor());

  test("an upload makes the directories on the way, and says what is in the way", async () => {
    const root = newDirectory();
    await machine.makeDirectory(`${root}/directory`);
    await machine.writeFile(`${root}/file`, utf8("x"));
    const paths = ["a/b/c.txt", "directory", "file/below", "nul\0", "it's new/é.txt"];
    const responses = await sandbox.uploadFiles(
      paths.map((path) => [`${root}/${path}`, utf8(path)] as const),
    );
    expect(responses.map(({ error }) => error)).toEqual([
      null,
      "is_directory",
      "parent_not_found",
      "invalid_path",
      null,
    ]);
    expect((await machine.readFile(`${root}/it's new/é.txt`)).toString()).toBe("it's new/é.txt");
  });

  test("a download says why there is none, and one that cannot be read is denied", async () => {
    const root = newDirectory();
    await machine.makeDirectory(`${root}/directory`);
    await runLine(`mkfifo ${root}/pipe`);
    const noPipes = new RemoteSandbox(
      vendor({
        get: async (path) => (path.endsWith("/pipe") ? "unclear" : machine.readFile(path).catch(unclear)),
      }),
    );
    const paths = ["none", "directory", "pipe"].map((name) => `${root}/${name}`);
    const responses = await noPipes.downloadFiles(paths);
    expect(responses.map(({ error }) => error)).toEqual([
      "file_not_found",
      "is_directory",
      "permission_denied",
    ]);
  });

  test("an abort does not wait for a vendor that knows no signals", async () => {
    const never = new RemoteSandbox(vendor({ get: () => new Promise(() => undefined) }));
    const reason = new Error("enough");
    const controller = new AbortController();
    const download = never.downloadFiles([`${HOME}/x`], { signal: controller.signal });
    controller.abort(reason);
    await expect(download).rejects.toBe(reason);
  });

  test("many files are moved a few at a time, and answered in order", async () => {
    const root = newDirectory();
    await machine.makeDirectory(root);
    let now = 0;
    let most = 0;
    const counted = new RemoteSandbox(
      vendor({
        put: async (path, bytes) => {
          now += 1;
          most = Math.max(most, now);
          await pause(Math.random() * 20);
          await machine.writeFile(path, bytes);
          now -= 1;
          return undefined;
        },
      }),
    );
    const files = Array.from({ length: 20 }, (_, n) => [`${root}/${n}`, utf8(String(n))] as const);
    const responses = await counted.uploadFiles(files);
    expect(responses.map(({ path }) => path)).toEqual(files.map(([path]) => path));
    expect(most).toBe(4);
    const downloaded = await counted.downloadFiles(files.map(([path]) => path));
    expect(downloaded.map(({ content }) => Buffer.from(content ?? []).toString())).toEqual(
      files.map((_, n) => String(n)),
    );
  });
});
