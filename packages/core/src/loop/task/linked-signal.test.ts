import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { say, scriptedModel } from "../../testing/index.ts";
import { linkedSignal } from "./linked-signal.ts";

const ask = { messages: [{ role: "user", content: "Hi" }] };

describe("a signal that is linked to another", () => {
  test("is aborted with it, for the same reason", () => {
    const stop = new AbortController();
    const { signal } = linkedSignal(stop.signal);
    expect(signal?.aborted).toBe(false);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(signal?.reason).toBe(reason);
    expect(linkedSignal(stop.signal).signal?.reason).toBe(reason);
  });

  test("does not follow it any more once released", () => {
    const stop = new AbortController();
    const { signal, release } = linkedSignal(stop.signal);
    release();
    stop.abort();
    expect(signal?.aborted).toBe(false);
  });
});

test("many runs, after each other and at once, leave nothing on a signal that outlives them", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => warnings.push(warning);
  process.on("warning", hear);
  const { signal } = new AbortController();
  const agent = createDeepAgent({ model: scriptedModel(() => say("Hello")) });
  for (let i = 0; i < 12; i += 1) await agent.invoke(ask, { signal });
  await Promise.all(Array.from({ length: 12 }, () => agent.invoke(ask, { signal })));
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("warning", hear);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
});
