import { defineConfig } from "vitest/config";

/** Tests run from source: the `source` condition of our packages' exports points at `src`. */
export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: "scripts/test-setup.mjs",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
