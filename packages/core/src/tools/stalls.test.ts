import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { withoutStalls } from "../backends/stalls-for-tests.ts";
import { guardBackend } from "../permissions/guard.ts";
import type { FilesystemPermission } from "../permissions/rules.ts";
import { toolsWith } from "./turns-for-tests.ts";

const ENTRIES = sized(120_000, 1_000_000);
/** A file may have so many names on most disks. */
const MOST_LINKS = 30_000;
const LINE = "some words of a line, and a needle\n";
const LARGE = LINE.repeat(sized(150_000, 300_000));

let rootDir: string;

beforeAll(() => {
  rootDir = mkdtempSync(join(tmpdir(), "stalls-"));
  const crowd = join(rootDir, "crowd");
  mkdirSync(crowd);
  for (let number = 0; number < ENTRIES; number++) {
    const source = join(rootDir, `source${Math.floor(number / MOST_LINKS)}`);
    if (number % MOST_LINKS === 0) writeFileSync(source, "");
    linkSync(source, join(crowd, `f${(number * 7_919) % ENTRIES}-${number}`));
  }
  writeFileSync(join(rootDir, "large.txt"), LARGE);
});

afterAll(() => rmSync(rootDir, { recursive: true, force: true }));

function memory(): BackendProtocol {
  const files = Array.from({ length: sized(20_000, 50_000) }, (_, at) => [`/crowd/f${at}`, "words"]);
  return new MapBackend({ ...Object.fromEntries(files), "/large.txt": LARGE });
}

const disk = (): BackendProtocol => new FilesystemBackend({ rootDir, virtualMode: true });
const every = { file_path: "/large.txt", old_string: "needle", replace_all: true };
/** So many that judging all entries at once would take longer than a turn may. */
const rules = Array.from(
  { length: 40 },
  (_, number): FilesystemPermission => ({
    operations: ["read"],
    paths: [`/crowd/f99${number}*`],
    mode: "deny",
  }),
);

describe.each<[string, () => BackendSource]>([
  ["on disk", disk],
  ["on disk under rules", () => guardBackend(disk(), rules)],
  ["in memory", memory],
])("file tools %s leave others their turns", (_, open) => {
  it.each<[what: string, name: string, args: Record<string, unknown>]>([
    ["listing a crowd", "ls", { path: "/crowd" }],
    ["looking for names in a crowd", "glob", { pattern: "*777*", path: "/crowd" }],
    ["listing all", "glob", { pattern: "**", path: "/" }],
    ["searching a crowd", "grep", { pattern: "nothing", path: "/crowd" }],
    ["finding every line", "grep", { pattern: "needle", path: "/large.txt" }],
    ["counting lines", "grep", { pattern: "needle", path: "/large.txt", output_mode: "count" }],
    ["reading the head", "read_file", { file_path: "/large.txt" }],
    ["reading far behind", "read_file", { file_path: "/large.txt", offset: 140_000, limit: 2_000 }],
    ["changing every line", "edit_file", { ...every, new_string: "needle" }],
    ["changing nothing", "edit_file", { ...every, old_string: "nowhere", new_string: "x" }],
    ["writing", "write_file", { file_path: "/other.txt", content: LARGE }],
  ])("%s", async (_, name, args) => {
    const tool = toolsWith({}, open()).get(name);
    const call = { name, args, id: "c", type: "tool_call" } as never;
    const answer = await withoutStalls(name, async () => (await tool?.invoke(call)) as unknown);
    expect(answer).toBeDefined();
  });
});
