/** Time limits: runs that take too long, threads that expire. */
import { callTool, say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  namesOf,
  OWNER,
  openSite,
  simpleTool,
  userSays,
} from "./service-for-tests.ts";
import { createWireJson } from "./wire/wire-json.ts";

describe("time", () => {
  test("a run that takes too long is ended, and says so", async () => {
    const hang = simpleTool("hang", () => new Promise(() => {}));
    const { agent } = agentOf([callTool("hang"), say("never")], { tools: [hang] });
    const site = await openSite({ agent }, { runTimeout: 0.5 });
    const run = await begin(site, "t1", { input: userSays("go") });
    expect(await site.runs.wait(OWNER, run.run_id)).toMatchObject({ __error__: { error: "RunTimeout" } });
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "timeout" });
    expect(namesOf(await eventsOf(site, run.run_id)).slice(-2)).toEqual(["error", "end"]);
  });

  test("a thread whose time is over goes with its state", async () => {
    const site = await openSite({ agent: agentOf([say("hi")]).agent });
    const run = await begin(site, "t1", { input: userSays("go") });
    await site.runs.wait(OWNER, run.run_id);
    await site.records.threads.patch(OWNER, "t1", { expiresAt: Date.now() - 1 });
    await until(async () => !(await site.records.threads.isTaken("t1")));
    expect(await site.saver.getTuple({ configurable: { thread_id: "t1" } })).toBeUndefined();
  });
});

describe("what clients are sent", () => {
  test("is JSON whatever a graph emits: circles, bytes, errors, big numbers, keys of the engine", () => {
    const json = createWireJson({ A_TOKEN: 'se"cret-1' });
    const circle: Record<string, unknown> = { name: "circle" };
    circle.self = circle;
    expect(JSON.parse(json(circle))).toEqual({ name: "circle" });
    expect(
      JSON.parse(
        json({
          bytes: new Uint8Array([1, 2]),
          big: 12n,
          map: new Map([["a", 1]]),
          set: new Set([1]),
          error: new TypeError("bad"),
          nothing: undefined,
          run: () => 1,
          __pregel_send: 1,
          text: 'a se"cret-1 b',
        }),
      ),
    ).toEqual({
      bytes: "AQI=",
      big: "12",
      map: { a: 1 },
      set: [1],
      error: { error: "TypeError", message: "bad" },
      text: "a [A_TOKEN] b",
    });
    expect(json(JSON.parse('{"a":{"__proto__":{"b":1}}}'))).toBe('{"a":{}}');
    expect(json(undefined)).toBe("null");
  });
});
