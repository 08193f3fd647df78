import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { backendSuite } from "../../testing/backend-suite/backend-suite.ts";
import { FilesystemBackend } from "./filesystem.ts";
import type { FilesystemBackendOptions } from "./filesystem-options.ts";

const forms: Record<string, FilesystemBackendOptions> = {
  "virtual paths": { virtualMode: true },
  "paths of the host": { virtualMode: false },
  "directories held by path": { virtualMode: true, openStrategy: "path" },
};

for (const [form, options] of Object.entries(forms))
  backendSuite(
    { describe, test },
    {
      name: `FilesystemBackend with ${form}`,
      size: form === "virtual paths" ? "full" : sized("small", "full"),
      open: () => {
        const rootDir = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-suite-")));
        return {
          backend: new FilesystemBackend({ rootDir, ...options }),
          root: options.virtualMode ? "/" : rootDir,
          close: () => rmSync(rootDir, { recursive: true, force: true }),
          bytes: (path) => readFileSync(options.virtualMode ? join(rootDir, path) : path),
          ...(options.virtualMode ? { hidden: [rootDir] } : {}),
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
