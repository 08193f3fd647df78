import { defineConfig } from "vitest/config";
import { TestOrder } from "./scripts/test-order.ts";
import { sized } from "./scripts/test-size.ts";
import { PATIENCE_MS } from "./scripts/test-time.ts";

/**
 * What these measure, count or teach belongs to the process, or they have workers whose claims run out in seconds: each
 * has a process of its own, and less beside it. The others share one a worker.
 */
const ALONE = [
  "packages/checkpoint/src/chaos/scenarios/two-processes.test.ts",
  "packages/checkpoint/src/sqlite/processes.test.ts",
  "packages/core/src/backends/disk/filesystem-security.test.ts",
  "packages/core/src/backends/disk/read-page.test.ts",
  "packages/core/src/backends/disk/search/search.test.ts",
  "packages/core/src/backends/shell/output-pipe.test.ts",
  "packages/core/src/backends/shell/running-commands.test.ts",
  "packages/core/src/backends/shell/shell-security.test.ts",
  "packages/core/src/context/compaction/compaction-long.test.ts",
  "packages/core/src/context/offload/offload-memory.test.ts",
  "packages/core/src/context/providers-long.test.ts",
  "packages/core/src/telemetry/langsmith.test.ts",
  "packages/core/src/testing/fault.test.ts",
  "packages/core/src/tools/stalls.test.ts",
  "packages/sandboxes/src/docker/docker.test.ts",
  "packages/sandboxes/src/os/os-security.test.ts",
  "packages/server/src/chaos/killed-workers.test.ts",
  "packages/server/src/http/health.test.ts",
  "packages/server/src/http/idle-streams.test.ts",
  "packages/server/src/http/large-events.test.ts",
  "packages/server/src/http/reconnects.test.ts",
  "packages/server/src/http/slow-database.test.ts",
  "packages/server/src/http/stalls/stalls.test.ts",
  "packages/server/src/http/streams.test.ts",
  "packages/server/src/http/task-crashes.test.ts",
  "packages/server/src/http/task-storm.test.ts",
  "packages/server/src/runs/processes.test.ts",
  "packages/server/src/runs/tasks/task-host.test.ts",
];

/** Tests run from source: the `source` condition of our packages' exports points at `src`. */
const fromSource = { resolve: { conditions: ["source"] }, ssr: { resolve: { conditions: ["source"] } } };
const shared = {
  // Ends a test that hangs. Tests do not set limits of their own, because a busy machine is slow: see scripts/test-time.ts.
  testTimeout: sized(600_000, 3_600_000),
  hookTimeout: sized(600_000, 3_600_000),
  expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
  pool: "forks" as const,
  setupFiles: ["scripts/test-hooks.mjs"],
  // Packages of others have a `source` condition too, which leads to TypeScript that Node does not read.
  server: { deps: { inline: [/@modelcontextprotocol/, /@langchain\/mcp-adapters/, /eventsource/] } },
};

export default defineConfig({
  test: {
    globalSetup: "scripts/test-setup.mjs",
    sequence: { sequencer: TestOrder },
    projects: [
      {
        ...fromSource,
        test: { ...shared, name: "alone", include: ALONE, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        ...fromSource,
        test: {
          ...shared,
          name: "together",
          include: ["packages/*/src/**/*.test.ts", "examples/**/*.test.ts", "tests/**/*.test.ts"],
          exclude: ALONE,
          isolate: false,
          // Half of the time of these is spent waiting.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
