import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { backendSuite } from "../../testing/backend-suite/backend-suite.ts";
import { LocalShellBackend } from "./local-shell.ts";

backendSuite(
  { describe, test },
  {
    name: "LocalShellBackend",
    open: () => {
      const rootDir = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-shell-")));
      return {
        backend: new LocalShellBackend({ rootDir, virtualMode: true }),
        close: () => rmSync(rootDir, { recursive: true, force: true }),
        bytes: (path) => readFileSync(join(rootDir, path)),
        hidden: [rootDir],
      };
    },
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
    timeoutMs: 600_000,
  },
);
