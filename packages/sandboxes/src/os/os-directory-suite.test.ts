/** The suite on a directory of this machine, where control files are protected. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";

const rootDir = mkdtempSync(join(tmpdir(), "deepwright-os-test-"));
let opening: Promise<OpenedSandbox> | undefined;

/** One sandbox for all cases, each in a directory of its own. */
async function place() {
  opening ??= osSandbox({ rootDir }).open({ key: "suite", env: {} });
  const { sandbox } = await opening;
  const root = `/workspace/${randomUUID()}`;
  await sandbox.execute(`mkdir ${root}`);
  return { backend: sandbox, root };
}

afterAll(async () => {
  await (await opening)?.destroy();
  rmSync(rootDir, { recursive: true });
});

sandboxSuite(
  { describe, test },
  { name: "osSandbox on a directory", size: sized("small", "full"), open: place, timeoutMs: 600_000 },
);
