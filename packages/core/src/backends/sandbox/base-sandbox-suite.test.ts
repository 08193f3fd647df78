import { describe, test } from "vitest";
import { backendSuite } from "../../testing/index.ts";
import { hasTool, LocalSandbox, type Tools } from "./local-sandbox-for-tests.ts";

const KINDS: readonly (readonly [name: string, tools: Tools])[] = [
  ["a sandbox with find and grep", "full"],
  ["a sandbox with a POSIX shell and the core utilities only", "core"],
  ["a sandbox with busybox", "busybox"],
];

for (const [name, tools] of KINDS) {
  if (tools === "busybox" && !hasTool("busybox")) {
    test.skip(`${name}: there is no busybox on this machine`, () => {});
    continue;
  }
  backendSuite(
    { describe, test },
    {
      name,
      open: () => {
        const backend = new LocalSandbox({ tools });
        return { backend, root: backend.root, close: () => backend.close() };
      },
      canAppend: true,
      canDelete: true,
      canTransfer: true,
      detectsEncodings: true,
      keepsEmptyDirectories: true,
      runs: 2,
    },
  );
}
