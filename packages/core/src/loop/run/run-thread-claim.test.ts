import { describe, expect, test } from "vitest";
import { wait } from "../fixtures/claiming-agent.ts";
import { MemoryClaimingSaver } from "../fixtures/claiming-saver.ts";
import { CLAIM_KEY, lossOf, throwIfClaimLost } from "../task/claim.ts";
import { claimRun, claimToBegin } from "./run-thread-claim.ts";

describe("the claim of a run", () => {
  const place = () => {
    const saver = new MemoryClaimingSaver();
    return { saver, graph: { threadClaim: { mode: "refuse" as const }, checkpointer: saver } };
  };

  test("is on the thread, which may have a number, and on nothing where there is no thread", async () => {
    const { saver, graph } = place();
    expect(await claimRun(graph, {})).toBeUndefined();
    expect(await claimRun(graph, { configurable: { thread_id: null } })).toBeUndefined();
    await claimRun(graph, { configurable: { thread_id: 7 } });
    expect([saver.given, saver.isClaimed("7")]).toEqual([1, true]);
    await claimRun(graph, { configurable: { thread_id: "t" } });
    expect(saver.isClaimed("t")).toBe(true);
  });

  test.each([0, -1, undefined])("can be waited for without a limit: %s", async (timeout) => {
    const { saver } = place();
    const before = await saver.claimThread("t", { mode: "queue" });
    const options = { configurable: { thread_id: "t" }, ...(timeout === undefined ? {} : { timeout }) };
    const waiting = claimRun({ threadClaim: { mode: "queue" }, checkpointer: saver }, options);
    await wait(5);
    await before.release();
    expect((await waiting)?.begin()).toBe(true);
  });

  test("is lost when its saver says so, and not before", async () => {
    const { saver } = place();
    const claim = await saver.claimThread("t", { mode: "refuse" });
    const config = { configurable: { [CLAIM_KEY]: claim } };
    expect(lossOf(claim)).toBeUndefined();
    throwIfClaimLost(config);
    saver.takeOver("t", "at once");
    expect(lossOf(claim)).toMatchObject({ code: "CLAIM_LOST" });
    expect(() => throwIfClaimLost(config)).toThrow(expect.objectContaining({ code: "CLAIM_LOST" }));
  });

  test("may be an object that cannot be changed", async () => {
    const { saver, graph } = place();
    const claimThread = saver.claimThread.bind(saver);
    saver.claimThread = async (...given) => Object.freeze(await claimThread(...given));
    const options = { configurable: { thread_id: "t" } };
    expect((await claimRun(graph, options))?.begin()).toBe(true);
  });

  test("is begun by one run alone, though others inside it get the same options", async () => {
    const claim = await claimRun(place().graph, { configurable: { thread_id: "t" } });
    const options = claim?.into({});
    expect(claimToBegin(options)).toBe(claim);
    expect(claimToBegin(options)).toBeUndefined();
  });
});
