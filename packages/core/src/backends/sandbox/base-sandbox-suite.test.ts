import { describe, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { backendSuite } from "../../testing/index.ts";
import { LocalSandbox, TESTED_TOOLS, type Tools } from "./local-sandbox-for-tests.ts";

const NAMES: Record<Tools, string> = {
  full: "a sandbox with find and grep",
  core: "a sandbox with a POSIX shell, the core utilities and find only",
  busybox: "a sandbox with busybox",
};

for (const tools of TESTED_TOOLS)
  backendSuite(
    { describe, test },
    {
      name: NAMES[tools],
      open: () => {
        const backend = new LocalSandbox({ tools });
        return { backend, root: backend.root, close: () => backend.close() };
      },
      canAppend: true,
      canDelete: true,
      canTransfer: true,
      detectsEncodings: true,
      keepsEmptyDirectories: true,
      timeoutMs: 600_000,
      runs: 2,
      size: tools === "full" ? "full" : sized("small", "full"),
    },
  );
