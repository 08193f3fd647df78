import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { LEASE_SUITE_SIZE, leaseSuite } from "../testing.ts";
import { NEEDS } from "./lease-suite-case.ts";
import { expectLeftOut, OWN } from "./left-out-for-tests.ts";
import { processProvider } from "./process-provider-for-tests.ts";

const root = mkdtempSync(join(tmpdir(), "lease-suite-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const whole = leaseSuite(
  { describe, test },
  {
    name: "a provider of processes",
    provider: () => processProvider({ root }),
    endsByItself: 1,
    timeoutMs: 600_000,
  },
);
const forgetful = leaseSuite(
  { describe, test },
  {
    name: "a slow one that cannot find places again",
    provider: () => processProvider({ root, delay: 50, forgets: true }),
    timeoutMs: 600_000,
  },
);

expectLeftOut(whole, OWN);
expectLeftOut(forgetful, [NEEDS.borrowedSandbox, NEEDS.reattach, NEEDS.find, NEEDS.destroy, NEEDS.ttl]);

describe("the suite", () => {
  test("declares what can be asked of a provider, and says of the rest why not", () => {
    const declared: string[] = [];
    const runner = {
      describe: (_: string, body: () => void) => body(),
      test: (name: string) => void declared.push(name),
    };
    const provider = () => ({ ...processProvider({ root }), reattach: undefined });
    const { asked, leftOut } = leaseSuite(runner as never, { name: "without", provider, endsByItself: 1 });
    expect(declared).toEqual(asked);
    expect(asked.length + leftOut.length).toBe(LEASE_SUITE_SIZE);
    expect(leftOut).toContainEqual({
      name: "what was let go of is found again with its files, by another process",
      because: "it has no `reattach`",
    });
    expect(asked).toContain("it can be found by its key, and by no other");
  });

  const casesOf = (provider: () => SandboxProvider): Map<string, () => unknown> => {
    const bodies = new Map<string, () => unknown>();
    const runner = {
      describe: (_: string, body: () => void) => body(),
      test: (name: string, body: () => unknown) => void bodies.set(name, body),
    };
    leaseSuite(runner as never, { name: "faults", provider, slackSeconds: 0.5 });
    return bodies;
  };
  const opening =
    (change: (opened: OpenedSandbox, request: OpenRequest) => Partial<OpenedSandbox>) =>
    (provider: SandboxProvider): Partial<SandboxProvider> => ({
      open: async (request) => {
        const opened = await provider.open(request);
        return { ...opened, ...change(opened, request) };
      },
    });

  test.each<[fault: string, change: (provider: SandboxProvider) => Partial<SandboxProvider>, name: string]>([
    [
      "does not end what it destroys",
      opening(() => ({ destroy: async () => {} })),
      "destroying twice is safe, and nothing is left to find",
    ],
    [
      "fails when it destroys a second time",
      opening((opened) => {
        let count = 0;
        return { destroy: async () => (count++ > 0 ? Promise.reject(new Error("gone")) : opened.destroy()) };
      }),
      "destroying twice is safe, and nothing is left to find",
    ],
    [
      "does not listen to the signal",
      (provider) => ({ open: ({ signal: _, ...request }) => provider.open(request) }),
      "a request that was stopped before it began opens nothing",
    ],
    [
      "forgets the variables",
      (provider) => ({ open: (request) => provider.open({ ...request, env: {} }) }),
      "every command sees the variables it was opened with, byte for byte",
    ],
    [
      "does not label what it opens",
      (provider) => ({ open: (request) => provider.open({ ...request, key: "none" }) }),
      "it can be found by its key, and by no other",
    ],
    [
      "takes letting go for the end",
      opening((opened) => ({ detach: opened.destroy })),
      "what was let go of is found again with its files, by another process",
    ],
    [
      "answers for a place that is gone",
      opening((opened) => ({
        sandbox: new Proxy(opened.sandbox, {
          get: (sandbox, key) =>
            key === "execute"
              ? async (command: string) => {
                  try {
                    return await sandbox.execute(command);
                  } catch {
                    return { output: "", exitCode: 1, truncated: false };
                  }
                }
              : Reflect.get(sandbox, key),
        }),
      })),
      "commands and files of a place that ended are a SANDBOX_LOST",
    ],
    [
      "opens one place for all",
      (provider) => {
        const one = provider.open({ key: "one", env: {} });
        return { open: () => one };
      },
      "places that are opened at once are places of their own",
    ],
  ])("finds a provider that %s", async (_fault, change, name) => {
    const cases = casesOf(() => {
      const provider = processProvider({ root });
      return { ...provider, ...change(provider) };
    });
    await expect((async () => cases.get(name)?.())()).rejects.toThrow();
  });
});
