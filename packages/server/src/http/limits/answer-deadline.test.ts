import { expect, test, vi } from "vitest";
import { eventually } from "../../../../../scripts/test-time.ts";
import { gate } from "../../runs/service-for-tests.ts";
import { TimeLimit } from "./answer-deadline.ts";

const UNAVAILABLE = { code: "UNAVAILABLE", details: { headers: { "retry-after": "1" } } };

test("an answer in time is given, and a failure is its own", async () => {
  const limit = new TimeLimit(600_000);
  expect(await limit.answer("threads.get", async () => "thread")).toBe("thread");
  const failing = limit.answer("threads.get", async () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
});

test("one that is late is refused with 503, and the stream it had become is let go", async () => {
  const limit = new TimeLimit(20);
  const cancelled = vi.fn();
  const door = gate();
  const late = limit.answer("runs.stream", async () => {
    await door.opened;
    return new Response(new ReadableStream({ cancel: cancelled }));
  });
  await expect(late).rejects.toMatchObject(UNAVAILABLE);
  door.open();
  await eventually(() => expect(cancelled).toHaveBeenCalled());
});

test("R-08: while much of it is late nothing more is begun but what needs no database, and then again", async () => {
  const limit = new TimeLimit(20);
  const door = gate();
  const begin = vi.fn(() => door.opened);
  const late = Array.from({ length: 40 }, () => limit.answer("threads.get", begin));
  await Promise.allSettled(late);
  expect(begin).toHaveBeenCalledTimes(40);
  await expect(limit.answer("threads.get", begin)).rejects.toMatchObject(UNAVAILABLE);
  expect(begin).toHaveBeenCalledTimes(40);
  expect(await limit.answer("server.ok", async () => "ok")).toBe("ok");
  door.open();
  await eventually(async () =>
    expect(await limit.answer("threads.get", async () => "thread")).toBe("thread"),
  );
});

test("what waits for a run to end may wait", async () => {
  const limit = new TimeLimit(5);
  const slow = () => new Promise((done) => setTimeout(done, 50, "ended"));
  expect(await limit.answer("runs.cancel", slow)).toBe("ended");
});
