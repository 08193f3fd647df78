import { randomUUID } from "node:crypto";
import { backendSuite, sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";

const shared: OpenedSandbox[] = [];
let opening: Promise<OpenedSandbox> | undefined;

/** One sandbox for all cases, each in a directory of its own. */
async function place() {
  opening ??= osSandbox().open({ key: "suite", env: {} });
  const opened = await opening;
  if (!shared.includes(opened)) shared.push(opened);
  const root = `/workspace/${randomUUID()}`;
  await opened.sandbox.execute(`mkdir ${root}`);
  return { backend: opened.sandbox, root };
}

afterAll(() => Promise.all(shared.map((opened) => opened.destroy())));

sandboxSuite({ describe, test }, { name: "osSandbox", open: place, timeoutMs: 600_000 });

backendSuite(
  { describe, test },
  {
    name: "files of osSandbox",
    size: sized("small", "full"),
    open: place,
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
    runs: 10,
    timeoutMs: 600_000,
  },
);
