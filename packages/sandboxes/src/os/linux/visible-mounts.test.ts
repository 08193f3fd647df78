import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { openVisible } from "./visible-mounts.ts";

const opened = (visible: readonly string[], bubblewrap: string) => {
  const places = openVisible({ visible, workingDirectory: "/work" } as never, bubblewrap);
  places.close();
  return { held: places.held, inside: places.inside, bubblewrap: places.bubblewrap };
};

it("places are mounted where they are; those below what commands can write are mounted aside first", () => {
  const scratch = scratchDirectory();
  writeFileSync(join(scratch, "file"), "");
  const visible = ["/dev", join(scratch, "file"), join(scratch, "missing"), "/dev/null", scratch];
  expect(opened(visible, "/usr/bin/bwrap")).toEqual({
    held: [
      { number: 7, to: "/dev", isDirectory: true },
      { number: 8, to: "/run/deepwright-visible/1", isDirectory: false },
      { number: 9, to: "/dev/null", isDirectory: false },
      { number: 10, to: "/run/deepwright-visible/3", isDirectory: true },
    ],
    inside: [
      { from: "/run/deepwright-visible/1", to: join(scratch, "file") },
      { from: "/run/deepwright-visible/3", to: scratch },
    ],
    bubblewrap: "/usr/bin/bwrap",
  });
});

it("a bubblewrap that is no program of the system is mounted too, and known by where it is then", () => {
  const scratch = scratchDirectory();
  mkdirSync(join(scratch, "bin"));
  const own = join(scratch, "bin", "bwrap");
  writeFileSync(own, "");
  expect(opened(["/dev"], own)).toEqual({
    held: [
      { number: 7, to: "/dev", isDirectory: true },
      { number: 8, to: "/run/deepwright-visible/1", isDirectory: false },
    ],
    inside: [],
    bubblewrap: "/run/deepwright-visible/1",
  });
  expect(opened([], "/dev/null")).toMatchObject({ held: [{ to: "/dev/null" }], bubblewrap: "/dev/null" });
});
