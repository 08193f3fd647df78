import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import type { ThreadStorage } from "../storage/storage.ts";
import { CLAIM_KEY, type ThreadClaim } from "./claim.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

let threads = 0;
const newThread = (): string => `claimed-${++threads}`;
const BUSY = { code: "THREAD_BUSY" };
const LOST = { code: "CLAIM_LOST" };

function put(saver: SharedSaver, thread_id: string, claim?: ThreadClaim): Promise<unknown> {
  const place = { thread_id, checkpoint_ns: "" };
  const configurable = claim ? { ...place, [CLAIM_KEY]: claim } : place;
  return saver.put({ configurable }, checkpointOf(EMPTY), metadataOf());
}

/** A saver in a process that can be stopped: while it is, nothing it asks for is done. */
function stoppable(storage: ThreadStorage): { saver: SharedSaver; stop(): void; revive(): void } {
  let open = (): void => {};
  let gate: Promise<void> = Promise.resolve();
  const slow = new Proxy(storage, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await gate;
        return member.apply(target, args);
      };
    },
  });
  return {
    saver: new SharedSaver(slow),
    stop: () => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    revive: () => open(),
  };
}

/** One writer per thread. */
export function claimsSuite({ open }: Subject): void {
  describe("claims", () => {
    let saver: SharedSaver;
    let other: SharedSaver;
    beforeAll(async () => {
      saver = await open();
      other = new SharedSaver(saver.storage);
    });
    afterAll(() => saver.close());

    test("a second run is refused while the first holds the thread, and served after it", async () => {
      const thread = newThread();
      const claim = await saver.claimThread(thread, { mode: "refuse" });
      await expect(other.claimThread(thread, { mode: "refuse" })).rejects.toMatchObject(BUSY);
      await (await other.claimThread(newThread(), { mode: "refuse" })).release();
      await claim.release();
      const next = await other.claimThread(thread, { mode: "refuse" });
      expect(next.fence).toBeGreaterThan(claim.fence);
      await next.release();
    });

    test("runs that queue get the thread in the order in which they asked", async () => {
      const thread = newThread();
      const first = await saver.claimThread(thread, { mode: "queue" });
      const served: number[] = [];
      const runs = [1, 2, 3, 4, 5].map(async (number) => {
        const claim = await saver.claimThread(thread, { mode: "queue" });
        served.push(number);
        await put(saver, thread, claim);
        await claim.release();
      });
      await sleep(30);
      expect(served).toEqual([]);
      await first.release();
      await Promise.all(runs);
      expect(served).toEqual([1, 2, 3, 4, 5]);
    });

    test("a run that stops waiting lets those behind it through", async () => {
      const thread = newThread();
      const first = await saver.claimThread(thread, { mode: "queue" });
      const [front, middle] = [new AbortController(), new AbortController()];
      const waiting = [front, middle].map(({ signal }) =>
        saver.claimThread(thread, { mode: "queue", signal }),
      );
      const last = saver.claimThread(thread, { mode: "queue" });
      middle.abort(new Error("no longer needed"));
      await expect(waiting[1]).rejects.toThrow("no longer needed");
      front.abort(new Error("nor this"));
      await expect(waiting[0]).rejects.toThrow("nor this");
      await first.release();
      await (await last).release();
      const signal = AbortSignal.abort(new Error("too late"));
      await expect(saver.claimThread(thread, { mode: "queue", signal })).rejects.toThrow("too late");
      await (await saver.claimThread(thread, { mode: "refuse" })).release();
    });

    test("who holds no claim may not write while somebody does", async () => {
      const thread = newThread();
      const claim = await saver.claimThread(thread, { mode: "refuse" });
      await expect(put(other, thread)).rejects.toMatchObject(BUSY);
      await expect(other.deleteThread(thread)).rejects.toMatchObject(BUSY);
      await put(saver, thread, claim);
      const configurable = { thread_id: thread, checkpoint_ns: "", checkpoint_id: "x" };
      await expect(other.putWrites({ configurable }, [["a", 1]], "task")).rejects.toMatchObject(BUSY);
      await saver.putWrites({ configurable: { ...configurable, [CLAIM_KEY]: claim } }, [["a", 1]], "task");
      await claim.release();
      await put(other, thread);
      await other.deleteThread(thread);
    });

    test("a thread is deleted under its claim, unless another has claimed it since", async () => {
      const thread = newThread();
      const first = await saver.claimThread(thread, { mode: "refuse" });
      await put(saver, thread, first);
      await first.release();
      const second = await other.claimThread(thread, { mode: "refuse" });
      await second.release();
      await expect(saver.deleteThread(thread, first)).rejects.toMatchObject(LOST);
      const third = await other.claimThread(thread, { mode: "refuse" });
      const elsewhere = await saver.claimThread(newThread(), { mode: "refuse" });
      await expect(saver.deleteThread(thread, elsewhere)).rejects.toMatchObject(BUSY);
      await other.deleteThread(thread, third);
      expect(await saver.getTuple({ configurable: { thread_id: thread } })).toBeUndefined();
      await Promise.all([third.release(), elsewhere.release()]);
    });

    test("a claim of another thread opens nothing", async () => {
      const thread = newThread();
      const claim = await saver.claimThread(thread, { mode: "refuse" });
      const elsewhere = await other.claimThread(newThread(), { mode: "refuse" });
      await expect(put(other, thread, elsewhere)).rejects.toMatchObject(BUSY);
      await Promise.all([claim.release(), elsewhere.release()]);
    });

    test("a claim renews itself for as long as its holder lives", async () => {
      // A process that a busy machine stops for most of its time to live loses its claim: then another thread is tried.
      await eventually(async () => {
        const thread = newThread();
        const claim = await saver.claimThread(thread, { mode: "refuse", ttl: 0.9 });
        await sleep(1_200);
        await expect(other.claimThread(thread, { mode: "refuse" })).rejects.toMatchObject(BUSY);
        await claim.check();
        await put(saver, thread, claim);
        expect(claim.signal.aborted).toBe(false);
        await claim.release();
      });
    });

    test("a process that was stopped and revived cannot write any more", async () => {
      const thread = newThread();
      const process = stoppable(saver.storage);
      const old = await process.saver.claimThread(thread, { mode: "refuse", ttl: 0.2 });
      await put(process.saver, thread, old);
      process.stop();
      const late = put(process.saver, thread, old);
      const next = await other.claimThread(thread, { mode: "queue" });
      process.revive();
      await expect(late).rejects.toMatchObject(LOST);
      await expect(old.check()).rejects.toMatchObject(LOST);
      expect(old.signal.reason).toMatchObject(LOST);
      await expect(put(process.saver, thread, old)).rejects.toMatchObject(LOST);
      await put(other, thread, next);
      await old.release();
      await expect(saver.claimThread(thread, { mode: "refuse" })).rejects.toMatchObject(BUSY);
      await next.release();
    });

    test("a deleted thread's claim is not one of the thread made after it", async () => {
      const thread = newThread();
      const old = await saver.claimThread(thread, { mode: "refuse" });
      await put(saver, thread, old);
      await old.release();
      await other.deleteThread(thread);
      const next = await other.claimThread(thread, { mode: "refuse" });
      await expect(put(saver, thread, old)).rejects.toMatchObject(LOST);
      await put(other, thread, next);
      await next.release();
    });

    test("releasing twice is safe, and what was released is no longer held", async () => {
      const thread = newThread();
      const claim = await saver.claimThread(thread, { mode: "refuse" });
      await Promise.all([claim.release(), claim.release()]);
      const next = await other.claimThread(thread, { mode: "refuse" });
      await claim.release();
      await expect(saver.claimThread(thread, { mode: "refuse" })).rejects.toMatchObject(BUSY);
      await expect(claim.check()).rejects.toMatchObject(LOST);
      await next.release();
    });

    test.each([
      [{ mode: "wait" }],
      [{}],
      [{ mode: "queue", ttl: 0 }],
      [{ mode: "queue", ttl: -1 }],
      [{ mode: "queue", ttl: Number.NaN }],
      [{ mode: "queue", ttl: Number.POSITIVE_INFINITY }],
      [{ mode: "queue", ttl: "30" }],
    ])("claimThread with %j is refused", async (options) => {
      const refused = saver.claimThread("t", options as never).then(
        (claim) => claim.release(),
        ({ code }) => code,
      );
      expect(await refused).toBe("INVALID_OPTION");
    });
  });
}
