import { describe, expect, it } from "vitest";
import { changedSince } from "./changed-since.ts";
import type { Files } from "./changes.ts";
import type { FileCopy } from "./read-workspace.ts";

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

function copy(content: string, day: number): FileCopy {
  return { content, mimeType: "text/plain", created_at: at(1), modified_at: at(day) };
}

const LAST_RUN = Date.parse(at(10));

describe("files of a thread that goes on", () => {
  it.each<[string, object | undefined, FileCopy, boolean]>([
    ["edited on the disk since it was copied", copy("old", 2), copy("new", 11), true],
    ["edited on the disk before the agent edited its copy", copy("agent's", 9), copy("new", 8), false],
    ["edited on the disk after the agent edited its copy", copy("agent's", 9), copy("new", 12), true],
    ["touched, with the same content", copy("same", 2), copy("same", 12), false],
    ["new on the disk", undefined, copy("new", 11), true],
    ["deleted by the agent and not edited since", undefined, copy("old", 2), false],
    ["of the older form, without a time", { content: ["a", "b"] }, copy("c", 2), true],
    ["of the older form, with the same text", { content: ["a", "b"] }, copy("a\nb", 2), false],
  ])("one that was %s", (_, known, disk, isTaken) => {
    const files = (known ? { "/a": known } : {}) as Files;
    expect(Object.keys(changedSince(files, LAST_RUN, { "/a": disk }))).toEqual(isTaken ? ["/a"] : []);
  });
});
