import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ConfigurationError, SandboxError } from "deepwright";
import { openSandboxCounts } from "deepwright/internal";
import { describe, expect, test } from "vitest";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { createSandbox, type OpenedSandbox, type SandboxProvider } from "../index.ts";
import { type ProcessProvider, processProvider } from "./process-provider-for-tests.ts";
import { opensOf, runOf, sandboxesRoot, testProvider } from "./sandboxes-for-tests.ts";

/** Opens after `letOpen`, whatever the signal says. */
function gated(inner: SandboxProvider) {
  let isAsked = false;
  let letOpen = (): void => undefined;
  const allowed = new Promise<void>((resolve) => {
    letOpen = resolve;
  });
  const provider: SandboxProvider = {
    ...inner,
    open: async ({ signal: _, ...request }) => {
      isAsked = true;
      await allowed;
      return inner.open(request);
    },
  };
  return { provider, isAsked: () => isAsked, letOpen };
}

/** The id of the place that has this file in its working directory. */
function placeWith({ root, places }: ProcessProvider, file: string): string | undefined {
  return places().find((id) => existsSync(join(root, id, "work", file)));
}

describe("options", () => {
  const provider = testProvider();
  test.each([
    [{}, /'provider' is missing.*os, docker, modal/s],
    [{ provider: "vm" }, /no provider 'vm'.*os, docker, modal, runloop, daytona, langsmith, agentcore, e2b/s],
    [{ provider: {} }, /not a provider of sandboxes/],
    [{ provider, setup: "x" }, /no option 'setup'.*setupScript/s],
    [{ provider, scope: "user" }, /'thread' or 'assistant'/],
    [{ provider, ttl: 0 }, /a number of seconds above 0/],
    [{ provider, ttl: "1h" }, /a number of seconds above 0/],
    [{ provider, setupScript: "a", setupScriptPath: "b" }, /not both/],
    [{ provider, setupScript: 1 }, /must be text/],
    [{ provider, onReplaced: "x" }, /must be a function/],
    [{ provider, name: " " }, /must not be empty/],
    [{ provider, env: { "a-b": "x" } }, /no name of a variable/],
    [{ provider, env: { A: 1 } }, /must be text/],
    [{ provider, env: { A: "\0" } }, /without NUL/],
    [{ provider, env: ["A=1"] }, /object of texts/],
    [null, /one object of options/],
  ])("%o is refused when it is given", (options, words) => {
    expect(() => createSandbox(options as never)).toThrow(ConfigurationError);
    expect(() => createSandbox(options as never)).toThrow(words);
  });

  test("null means absent, and nothing is opened before something is done", async () => {
    const own = testProvider();
    const source = createSandbox({ provider: own, scope: null, ttl: null, env: null, setupScript: null });
    const sandbox = await source(runOf("a"));
    expect([sandbox.id.startsWith("process:thread-"), sandbox.workingDirectory]).toEqual([true, "/"]);
    expect(own.log).toEqual([]);
    await source.close();
    expect(own.log).toEqual([]);
  });

  test("a missing set-up file is told before anything is opened", async () => {
    const own = testProvider();
    const source = createSandbox({ provider: own, setupScriptPath: "/nowhere/setup.sh" });
    const error = await source.lease().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "SETUP_FAILED",
      message: expect.stringContaining("/nowhere/setup.sh"),
    });
    expect(own.log).toEqual([]);
  });
});

test("a sandbox is counted from its opening until it is let go of", async () => {
  const provider = { ...testProvider(), name: "counted" };
  const source = createSandbox({ provider });
  const lease = await source.lease();
  expect(openSandboxCounts().get("counted")).toBe(1);
  await lease.release();
  await source.close();
  expect(openSandboxCounts().get("counted")).toBe(0);
});

describe("keys", () => {
  test("a thread has a sandbox of its own, which its next run finds again", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    await (await source(runOf("a"))).execute("echo one > note");
    expect((await (await source(runOf("a"))).execute("cat note")).output).toBe("one\n");
    expect((await (await source(runOf("b"))).execute("cat note")).exitCode).toBe(1);
    expect(provider.places()).toHaveLength(2);
  });

  test("a run without a thread is refused with what to do about it", async () => {
    const source = createSandbox({ provider: testProvider() });
    await expect(source({ state: {} })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("thread_id"),
    });
  });

  test("an assistant shares one sandbox between its threads; which assistant must be known", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider, scope: "assistant" });
    const run = (thread: string, assistantId?: string) =>
      source({
        state: {},
        serverInfo: { assistantId },
        config: { configurable: { thread_id: thread } },
      } as never);
    await (await run("a", "one")).execute("echo shared > note");
    expect((await (await run("b", "one")).execute("cat note")).output).toBe("shared\n");
    expect((await (await run("b", "two")).execute("cat note")).exitCode).toBe(1);
    await expect(run("a")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await using named = createSandbox({ provider, scope: "assistant", name: "helper" });
    expect((await (await named(runOf("c"))).execute("echo $((6 * 7))")).output).toBe("42\n");
  });

  test.each(["thread", "assistant"] as const)(
    "two tenants never share one, whatever their ids: scope %s",
    async (scope) => {
      const provider = testProvider();
      await using source = createSandbox({ provider, scope });
      const run = (tenant?: string) =>
        source({
          state: {},
          serverInfo: { assistantId: "helper", ...(tenant && { tenant }) },
          config: { configurable: { thread_id: "a" } },
        } as never);
      await (await run("alice")).execute("echo secret > note");
      expect((await (await run("alice")).execute("cat note")).output).toBe("secret\n");
      for (const tenant of ["bob", undefined])
        expect((await (await run(tenant)).execute("cat note")).exitCode).toBe(1);
    },
  );

  test("a name tells sandboxes of one thread apart, and keys are fit for labels", async () => {
    const provider = testProvider();
    for (const name of ["first", "second", undefined]) {
      const source = createSandbox({ provider, ...(name && { name }) });
      await using _ = await source.lease("Thread/é\n".repeat(50));
    }
    const keys = provider.log.filter((line) => line.startsWith("open ")).map((line) => line.slice(5));
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9-]{1,63}$/);
  });
});

describe("opening", () => {
  test("first calls at once open one sandbox", async () => {
    const provider = testProvider({ delay: 50 });
    await using source = createSandbox({ provider });
    const outputs = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await source(runOf("a"))).execute(`echo ${index}`)),
    );
    expect(outputs.map(({ output }) => output.trim())).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect(opensOf(provider)).toBe(1);
  });

  test("who is stopped leaves at once, and the others get the sandbox", async () => {
    const inner = testProvider();
    const { provider, letOpen } = gated(inner);
    await using source = createSandbox({ provider });
    const sandbox = await source(runOf("a"));
    const stopped = sandbox.execute("echo no", { signal: AbortSignal.timeout(50) });
    const other = sandbox.execute("echo yes");
    await expect(stopped).rejects.toMatchObject({ name: "TimeoutError" });
    letOpen();
    expect((await other).output).toBe("yes\n");
    expect(inner.places()).toHaveLength(1);
  });

  test("when the last one is stopped the opening stops and leaves nothing", async () => {
    const provider = testProvider({ delay: 600_000 });
    await using source = createSandbox({ provider });
    const sandbox = await source(runOf("a"));
    const controller = new AbortController();
    const both = [1, 2].map(() => sandbox.execute("echo no", { signal: controller.signal }));
    await until(() => provider.places().length === 1);
    controller.abort(new Error("enough"));
    for (const one of both) await expect(one).rejects.toThrow("enough");
    await until(() => provider.places().length === 0);
  });

  test("a provider that does not listen to the signal is cleaned up after", async () => {
    const inner = testProvider();
    const { provider: deaf, isAsked, letOpen } = gated(inner);
    await using source = createSandbox({ provider: deaf });
    const controller = new AbortController();
    const leasing = source.lease("a", { signal: controller.signal });
    await until(isAsked);
    controller.abort(new Error("enough"));
    await expect(leasing).rejects.toThrow("enough");
    letOpen();
    await source.close();
    expect(inner.log.some((line) => line.startsWith("open"))).toBe(true);
    expect(inner.places()).toEqual([]);
  });

  test("a failure is told to all who wait and is not tried again until somebody asks", async () => {
    let failures = 2;
    const provider = testProvider({
      delay: 20,
      onOpen: () => {
        if (failures-- > 0) throw new SandboxError("No room.", "QUOTA_EXCEEDED");
      },
    });
    await using source = createSandbox({ provider });
    const sandbox = await source(runOf("a"));
    const outcomes = await Promise.allSettled([sandbox.execute("true"), sandbox.ls("/")]);
    for (const one of outcomes)
      expect(one).toMatchObject({ status: "rejected", reason: { code: "QUOTA_EXCEEDED" } });
    await pause(100);
    expect(opensOf(provider)).toBe(1);
    await expect(sandbox.execute("true")).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect((await sandbox.execute("echo now")).output).toBe("now\n");
  });

  test("closing while it opens leaves nothing, and nothing opens after", async () => {
    const provider = testProvider({ delay: 600_000 });
    const source = createSandbox({ provider });
    const sandbox = await source(runOf("a"));
    const running = Promise.resolve(sandbox.execute("echo no"));
    running.catch(() => {});
    await until(() => provider.places().length === 1);
    await source.close();
    await source.close();
    await expect(running).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    await expect(sandbox.execute("echo no")).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    await expect(source(runOf("a"))).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    expect(provider.places()).toEqual([]);
  });
});

describe("the two tiers", () => {
  test("a lease needs no thread and ends with its block", async () => {
    const provider = testProvider();
    const source = createSandbox({ provider });
    {
      await using lease = await source.lease();
      expect((await lease.sandbox.execute("echo in")).output).toBe("in\n");
      expect(provider.places()).toEqual([lease.id]);
    }
    expect(provider.places()).toEqual([]);
  });

  test("release is safe twice and at once, and what is left of the sandbox refuses", async () => {
    const provider = testProvider();
    const lease = await createSandbox({ provider }).lease();
    await Promise.all([lease.release(), lease.release()]);
    await lease.release();
    expect(provider.log.filter((line) => line.startsWith("destroy"))).toHaveLength(1);
    await expect(lease.sandbox.execute("true")).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    await expect(lease.keepAlive()).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    expect(provider.places()).toEqual([]);
  });

  test("what tools get has no way to end, keep or name the place", async () => {
    const provider = testProvider();
    await using lease = await createSandbox({ provider }).lease("a");
    const names = new Set<string>();
    for (
      let at: object | null = lease.sandbox;
      at !== null && at !== Object.prototype;
      at = Object.getPrototypeOf(at)
    )
      for (const name of Reflect.ownKeys(at)) names.add(String(name));
    expect([...names].sort()).toEqual(
      [
        ...[
          "append",
          "closesPaths",
          "commandNote",
          "constructor",
          "delete",
          "downloadFiles",
          "edit",
          "execute",
          "glob",
          "grep",
        ],
        ...["id", "ls", "read", "readRaw", "realPath", "uploadFiles", "workingDirectory", "write"],
      ].sort(),
    );
    expect(lease.sandbox.id).not.toContain(lease.id);
    await provider.destroy?.(lease.sandbox.id);
    expect(provider.places()).toEqual([lease.id]);
  });

  test("the lease of a thread is that of its runs", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider });
    await (await source(runOf("a"))).execute("echo one > note");
    const lease = await source.lease("a");
    expect((await lease.sandbox.execute("cat note")).output).toBe("one\n");
    await lease.release();
    expect(provider.places()).toEqual([]);
    expect((await (await source(runOf("a"))).execute("ls")).output).toBe("");
  });

  test("a run that comes while its sandbox is being released gets a fresh one", async () => {
    const inner = testProvider();
    const provider: SandboxProvider = {
      ...inner,
      open: async (request) => {
        const opened = await inner.open(request);
        return { ...opened, destroy: () => pause(200).then(opened.destroy) };
      },
    };
    await using source = createSandbox({ provider });
    const lease = await source.lease("a");
    await lease.sandbox.execute("echo old > note");
    const releasing = lease.release();
    const sandbox = await source(runOf("a"));
    expect((await sandbox.execute("ls")).output).toBe("");
    await releasing;
    expect((await sandbox.execute("echo still here")).output).toBe("still here\n");
  });

  test("closing keeps what can be found again and ends what nobody else could find", async () => {
    const provider = testProvider();
    const source = createSandbox({ provider });
    await (await source(runOf("a"))).execute("echo kept > note");
    const own = await source.lease();
    await source.close();
    expect(provider.places()).toHaveLength(1);
    expect(provider.places()).not.toContain(own.id);
    await using next = createSandbox({ provider: processProvider({ root: provider.root }) });
    expect((await (await next(runOf("a"))).execute("cat note")).output).toBe("kept\n");
    await next.close({ keep: false });
    expect(provider.places()).toEqual([]);
  });

  test("what cannot be found again is ended by closing", async () => {
    const provider = testProvider({ forgets: true });
    const source = createSandbox({ provider });
    await (await source(runOf("a"))).execute("true");
    await source.close();
    expect(provider.places()).toEqual([]);
  });

  test("a lease of an assistant is let go of, unless it says otherwise", async () => {
    const provider = testProvider();
    const source = createSandbox({ provider, scope: "assistant", name: "helper" });
    const lease = await source.lease();
    await lease.release();
    expect(provider.places()).toEqual([lease.id]);
    const again = await source.lease();
    expect(again.id).toBe(lease.id);
    await again.release({ keep: false });
    expect(provider.places()).toEqual([]);
  });

  test("a place that the user owns is not ended by release: its provider sees to that", async () => {
    const inner = testProvider();
    const own = await inner.open({ key: "mine", env: {} });
    const wrapped: SandboxProvider = {
      ...inner,
      open: async (): Promise<OpenedSandbox> => ({ ...own, detach: async () => {}, destroy: async () => {} }),
      find: async () => [],
    };
    {
      await using lease = await createSandbox({ provider: wrapped }).lease();
      expect((await lease.sandbox.execute("echo theirs > note; cat note")).output).toBe("theirs\n");
    }
    expect((await own.sandbox.execute("cat note")).output).toBe("theirs\n");
  });

  test("a release that failed can be made again", async () => {
    const inner = testProvider();
    let failures = 1;
    const provider: SandboxProvider = {
      ...inner,
      open: async (request) => {
        const opened = await inner.open(request);
        const destroy = async (): Promise<void> => {
          if (failures-- > 0) throw new SandboxError("No answer.", "SANDBOX_UNAVAILABLE");
          await opened.destroy();
        };
        return { ...opened, destroy };
      },
    };
    const lease = await createSandbox({ provider }).lease();
    await expect(lease.release()).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    await lease.release();
    expect(inner.places()).toEqual([]);
  });
});

describe("set-up", () => {
  test("runs once in a fresh sandbox and not when it is found again, here or elsewhere", async () => {
    const provider = testProvider();
    const options = { provider, setupScript: "echo x >> count" };
    const first = createSandbox(options);
    expect((await (await first(runOf("a"))).execute("wc -l < count")).output.trim()).toBe("1");
    await first.close();
    await using second = createSandbox({ ...options, provider: processProvider({ root: provider.root }) });
    expect((await (await second(runOf("a"))).execute("wc -l < count")).output.trim()).toBe("1");
    expect((await (await second(runOf("b"))).execute("wc -l < count")).output.trim()).toBe("1");
  });

  test("a script in a file, with an interpreter of its own, sees the variables", async () => {
    const provider = testProvider();
    const path = join(sandboxesRoot(), "setup.sh");
    const script = [
      "#!/usr/bin/env bash",
      "set -e",
      'words=(it\\\'s "$GREETING")',
      'echo "$' + '{words[*]}" > note',
      "",
    ];
    writeFileSync(path, script.join("\n"));
    await using source = createSandbox({ provider, setupScriptPath: path, env: { GREETING: "hello" } });
    expect((await (await source(runOf("a"))).execute("cat note")).output).toBe("it's hello\n");
    writeFileSync(path, "echo later > note");
    expect((await (await source(runOf("b"))).execute("cat note")).output).toBe("later\n");
  });

  test("one that fails is told with the end of its output, and the sandbox is gone", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider, setupScript: "echo first; echo the reason >&2; exit 3" });
    const error = await source.lease("a").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "SETUP_FAILED",
      message: expect.stringMatching(/exit code 3.*first\nthe reason/s),
    });
    expect(provider.places()).toEqual([]);
  });

  test("one that does not end is stopped, and one that is stopped leaves nothing", async () => {
    const provider = testProvider();
    await using slow = createSandbox({ provider, setupScript: "echo begun; sleep 600", setupTimeout: 1 });
    // A shell that needs more than the second to start has printed nothing.
    await eventually(() =>
      expect(slow.lease("a")).rejects.toMatchObject({
        code: "SETUP_FAILED",
        message: expect.stringMatching(/within 1 s.*begun/s),
      }),
    );
    await using source = createSandbox({ provider, setupScript: "echo > begun; sleep 600" });
    const controller = new AbortController();
    const leasing = source.lease("a", { signal: controller.signal });
    await until(() => placeWith(provider, "begun"));
    controller.abort(new Error("enough"));
    await expect(leasing).rejects.toThrow("enough");
    await until(() => provider.places().length === 0);
  });

  test("two agents of one thread that begin at once share one sandbox, which is set up once", async () => {
    const provider = testProvider({ delay: 50 });
    const setupScript = "echo x >> count; sleep 0.3";
    const sources = [1, 2].map(() =>
      createSandbox({ provider: processProvider({ root: provider.root, delay: 50 }), setupScript }),
    );
    const outputs = await Promise.all(
      sources.map(async (source) => (await (await source(runOf("t"))).execute("cat count")).output),
    );
    expect(outputs).toEqual(["x\n", "x\n"]);
    expect(provider.places()).toHaveLength(1);
    for (const source of sources) await source.close({ keep: false });
  });

  test("of two processes that open the sandbox of an assistant at once one sets it up, and both use it", async () => {
    const provider = testProvider({ delay: 100 });
    const sources = [1, 2, 3].map(() =>
      createSandbox({
        provider: processProvider({ root: provider.root, delay: 100 }),
        scope: "assistant",
        name: "helper",
        setupScript: "echo x >> count; sleep 0.5",
      }),
    );
    const leases = await Promise.all(sources.map((source) => source.lease()));
    expect(new Set(leases.map(({ id }) => id)).size).toBe(1);
    expect(provider.places()).toHaveLength(1);
    const place = join(provider.root, provider.places()[0] ?? "");
    expect(readFileSync(join(place, "work/count"), "utf8")).toBe("x\n");
    await leases[0]?.release({ keep: false });
  });
});

describe("ttl", () => {
  test("a sandbox without use ends after its time, and one that is used does not", async () => {
    const provider = testProvider();
    // What the provider itself would do after the time is not asked here.
    const timeless: SandboxProvider = {
      ...provider,
      open: ({ ttl: _, ...request }) => provider.open(request),
    };
    await using source = createSandbox({ provider: timeless, ttl: 1 });
    const busy = await source(runOf("busy"));
    const idle = await source(runOf("idle"));
    const wait = "echo > begun; until [ -e go ]; do sleep 0.1; done; echo still here";
    const running = busy.execute(wait, { timeout: 600 });
    await until(() => placeWith(provider, "begun"));
    const id = placeWith(provider, "begun") as string;
    await idle.execute("true");
    expect(opensOf(provider)).toBe(2);
    await until(() => provider.places().length === 1);
    await until(() => provider.log.filter((line) => line === `keepAlive ${id}`).length > 2);
    expect(provider.places()).toEqual([id]);
    writeFileSync(join(provider.root, id, "work/go"), "");
    expect((await running).output).toBe("still here\n");
    await until(() => provider.places().length === 0);
  });

  test("the time is told to the provider, except when there is none", async () => {
    const asked: unknown[] = [];
    const inner = testProvider();
    const provider: SandboxProvider = {
      ...inner,
      open: (request) => {
        asked.push(request.ttl);
        return inner.open(request);
      },
    };
    for (const ttl of [undefined, 42, Number.POSITIVE_INFINITY]) {
      await using _ = await createSandbox({ provider, ttl }).lease();
    }
    expect(asked).toEqual([3600, 42, undefined]);
  });

  test("what an assistant does not use here is let go of: others may use it", async () => {
    const provider = testProvider();
    await using source = createSandbox({ provider, scope: "assistant", name: "helper", ttl: 0.1 });
    await (await source(runOf("a"))).execute("true");
    await until(() => provider.log.some((line) => line.startsWith("detach")));
    expect(provider.places()).toHaveLength(1);
  });
});
