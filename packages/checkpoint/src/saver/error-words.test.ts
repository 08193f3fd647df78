import { ERROR } from "@langchain/langgraph-checkpoint";
import { afterEach, expect, test, vi } from "vitest";
import { SharedMemorySaver } from "./shared-memory-saver.ts";

afterEach(() => vi.unstubAllEnvs());

test("ST-04 the error of a task is kept without the key a provider repeats in it", async () => {
  vi.stubEnv("SOME_API_KEY", "sentinel-4711");
  const saver = new SharedMemorySaver();
  const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "c" } };
  const checkpoint = { v: 4, id: "c", ts: "", channel_values: {}, channel_versions: {}, versions_seen: {} };
  await saver.put(config, checkpoint, { source: "loop", step: 0, parents: {} }, {});
  const refused = new TypeError("refused: sentinel-4711");
  const plain = { name: "E", message: "no sentinel-4711", causes: ["sentinel-4711", 7] };
  await saver.putWrites(config, [[ERROR, refused]], "a");
  await saver.putWrites(config, [[ERROR, plain]], "b");
  await saver.putWrites(config, [["messages", "sentinel-4711 said a person"]], "c");
  const writes = (await saver.getTuple(config))?.pendingWrites?.map(([, , value]) => value);
  expect(writes).toMatchObject([
    { name: "TypeError", message: "refused: [SOME_API_KEY]" },
    { name: "E", message: "no [SOME_API_KEY]", causes: ["[SOME_API_KEY]", 7] },
    "sentinel-4711 said a person",
  ]);
  expect(refused.message).toContain("sentinel");
});
