import { StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { BACKEND_SUITE_SIZE, backendSuite, type OpenBackend } from "../testing/index.ts";
import type { BackendProtocol } from "./backend.ts";
import { MapBackend } from "./file-map/map-backend.ts";
import { filesValue } from "./state/files-value.ts";
import { StateBackend } from "./state/state.ts";

test("the suite has at least 120 cases", () => {
  expect(BACKEND_SUITE_SIZE).toBeGreaterThanOrEqual(120);
});

backendSuite(
  { describe, test },
  {
    name: "StateBackend in a task",
    open: openState,
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    timeoutMs: 600_000,
  },
);

const shared = new MapBackend({ "/case_%/kept.txt": "not the business of any case" });
let cases = 0;

backendSuite(
  { describe, test },
  {
    name: "one MapBackend, each case in a directory of its own",
    open: () => ({ backend: shared, root: `/case_%-${cases++}` }),
    timeoutMs: 600_000,
  },
);

/** The backend as a node of a running graph has it; the node ends when the case does. */
async function openState(): Promise<OpenBackend> {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let running: Promise<unknown> | undefined;
  const backend = await new Promise<BackendProtocol>((resolve, reject) => {
    const graph = new StateGraph(new StateSchema({ files: filesValue }))
      .addNode("work", async (state, config) => {
        resolve(new StateBackend().withRuntime({ state, config }));
        await finished;
        return {};
      })
      .addEdge("__start__", "work")
      .compile();
    running = graph.invoke({ files: {} }).catch(reject);
  });
  return {
    backend,
    close: async () => {
      finish();
      await running;
    },
  };
}
