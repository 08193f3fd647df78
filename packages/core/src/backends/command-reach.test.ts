/** Files that a shell may reach behind the tools' back. */
import { expect, it } from "vitest";
import { commandReachOf, reachOfMounts, withCommandReach } from "./command-reach.ts";
import { FilesystemBackend } from "./disk/filesystem.ts";
import { MapBackend } from "./file-map/map-backend.ts";
import { StateBackend } from "./state/state.ts";

const map = new MapBackend();
const disk = new FilesystemBackend({ rootDir: "/tmp" });
const lent = Object.assign(new MapBackend(), { realPath: (path: string) => path });
const elsewhere = Object.assign(new MapBackend(), { workingDirectory: "/work" });
const machine = Object.assign(new MapBackend(), {
  id: "m",
  execute: async () => ({ output: "", exitCode: 0 }),
});
const shell = Object.assign(new MapBackend(), { mayExecute: true });

const reach = reachOfMounts([
  { prefix: "/maps/disk", source: disk },
  { prefix: "/made/disk", source: disk },
  { prefix: "/maps", source: map },
  { prefix: "/made", source: () => new StateBackend() },
  { prefix: "/lent", source: lent },
  { prefix: "/elsewhere", source: elsewhere },
  { prefix: "/machine", source: machine },
  { prefix: "/shell", source: shell },
]);

it.each<[string, boolean | undefined]>([
  ["/", true],
  ["/own/file", true],
  ["/maps/file", false],
  ["/maps", true],
  ["/maps/disk/file", true],
  ["/made/file", undefined],
  ["/made", true],
  ["/lent/file", true],
  ["/elsewhere/file", true],
  ["/machine/file", true],
  ["/shell/file", true],
])("a command reaches %s: %s", (path, expected) => {
  expect(reach(path)).toBe(expected);
});

it("a backend that says nothing has commands that reach everything", () => {
  expect(commandReachOf(map)("/a")).toBe(true);
  expect(commandReachOf(withCommandReach(new MapBackend(), () => false))("/a")).toBe(false);
});
