import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "deepwright";
import { expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { createSandbox, type OpenedSandbox, type Sandbox, type SandboxProvider } from "../index.ts";
import { runOf } from "./sandboxes-for-tests.ts";

type Random = () => number;

function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Places in memory that are slow, fail and vanish by chance. */
function shakyProvider(random: Random, places: Map<string, string>): SandboxProvider {
  let count = 0;
  const chance = (share: number): boolean => random() < share;
  const slow = (signal?: AbortSignal): Promise<void> =>
    pause(random() * 4, undefined, { signal }).catch(() => {
      throw signal?.reason;
    });
  const execute = async (id: string, command: string, signal?: AbortSignal) => {
    await slow(signal);
    if (chance(0.05)) places.delete(id);
    if (!places.has(id)) throw new SandboxError("gone", "SANDBOX_LOST");
    const isSetUp = command.includes("mkdir");
    return {
      output: isSetUp ? "claimed\n" : "",
      exitCode: command === "set up" && chance(0.1) ? 1 : 0,
      truncated: false,
    };
  };
  const hold = (id: string): OpenedSandbox => ({
    id,
    sandbox: { id, execute: (command, options) => execute(id, command, options?.signal) } as Sandbox,
    keepAlive: async () => {},
    detach: async () => {},
    destroy: async () => {
      await slow();
      places.delete(id);
    },
  });
  return {
    name: "shaky",
    network: "none",
    workingDirectory: "/",
    open: async ({ key, signal }) => {
      signal?.throwIfAborted();
      if (chance(0.1)) throw new SandboxError("no room", "QUOTA_EXCEEDED");
      count += 1;
      const id = `place-${random()}-${count}`;
      places.set(id, key);
      try {
        await slow(chance(0.8) ? signal : undefined);
      } catch (error) {
        places.delete(id);
        throw error;
      }
      return hold(id);
    },
    reattach: async (id, { signal }) => {
      await slow(signal);
      return places.has(id) ? hold(id) : undefined;
    },
    destroy: async (id) => void places.delete(id),
    find: async (key) => {
      await slow();
      return [...places].filter(([, held]) => held === key).map(([id]) => id);
    },
  };
}

async function shake(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const places = new Map<string, string>();
  const provider = shakyProvider(random, places);
  const isShared = seed % 3 === 0;
  const mayBeKept = isShared || seed % 4 === 0;
  const source = createSandbox({
    provider,
    scope: isShared ? "assistant" : "thread",
    name: "fuzz",
    ttl: seed % 2 === 0 ? 0.005 : 60,
    ...(seed % 5 < 2 && { setupScript: "set up" }),
  });
  const one = async (): Promise<void> => {
    await pause(random() * 30);
    const thread = `thread-${Math.floor(random() * 3)}`;
    const signal = random() < 0.3 ? AbortSignal.timeout(Math.ceil(random() * 8)) : undefined;
    if (random() < 0.2) {
      const lease = await source.lease(random() < 0.5 ? thread : undefined, { ...(signal && { signal }) });
      await lease.sandbox.execute("work");
      if (random() < 0.8) await lease.release({ keep: mayBeKept && random() < 0.3 });
    } else await (await source(runOf(thread))).execute("work", { ...(signal && { signal }) });
  };
  const closing =
    seed % 7 === 0 ? pause(10 + random() * 10).then(() => source.close({ keep: false })) : undefined;
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, one));
  await closing;
  for (const outcome of outcomes)
    if (outcome.status === "rejected")
      expect(["SANDBOX_LOST", "QUOTA_EXCEEDED", "SETUP_FAILED", "NOT_INITIALIZED", 23]).toContain(
        outcome.reason.code,
      );
  await eventually(() => {
    const keys = [...places.values()];
    expect(new Set(keys).size, `seed ${seed}: two places of one key`).toBe(keys.length);
  });
  await source.close({ keep: false });
  const left = [...places.values()].filter((key) => key.startsWith("own-") || !mayBeKept);
  expect(left, `seed ${seed}: left open`).toEqual([]);
}

test("whatever is aborted, lost, refused or released, in whatever order, nothing is left open", async () => {
  for (let seed = 1; seed <= 60; seed++) await shake(seed);
});
