/** A guarded backend whose rules are about something else is the backend itself, in every respect. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { backendSuite } from "../testing/backend-suite/backend-suite.ts";
import { guarded, rule } from "./backends-for-tests.ts";

const ELSEWHERE = [rule("deny", ["/elsewhere/**", "/**/never-*"]), rule("interrupt", "/asked")];
const abilities = { canAppend: true, canDelete: true, canTransfer: true };

backendSuite(
  { describe, test },
  {
    name: "a guarded MapBackend",
    open: () => ({ backend: guarded(new MapBackend(), ELSEWHERE) }),
    ...abilities,
  },
);

backendSuite(
  { describe, test },
  {
    name: "a guarded FilesystemBackend, paths of the host",
    open: () => {
      const rootDir = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-guard-")));
      return {
        backend: guarded(new FilesystemBackend({ rootDir }), ELSEWHERE),
        root: rootDir,
        close: () => rmSync(rootDir, { recursive: true, force: true }),
        bytes: (path) => readFileSync(path),
      };
    },
    ...abilities,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
  },
);
