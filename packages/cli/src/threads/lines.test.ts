import type { FileChange } from "@deepwright/checkpoint";
import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { blameLines } from "./blame-lines.ts";
import { detailLines, idWord, patchLines, rewindLines, shortId, threadLines } from "./lines.ts";

const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;
const EVIL = "evil\x1b[2J\u202e\n\x07";
const PLAIN = pc.createColors(false);

const FACTS = {
  threadId: EVIL,
  title: EVIL,
  firstPrompt: EVIL,
  messageCount: 3,
  checkpointCount: 2,
  model: EVIL,
  cwd: EVIL,
  createdAt: 0,
  updatedAt: 0,
};

describe("what is shown of stored text", () => {
  it("has no control characters of its own (TI-01)", () => {
    const step = {
      step: 1,
      checkpointId: EVIL,
      at: new Date(0).toISOString(),
      source: EVIL,
      messageCount: 1,
      calls: [],
    };
    const change: FileChange = {
      path: EVIL,
      place: EVIL,
      kind: "changed",
      before: "",
      after: "",
      patch: `--- a\n+${EVIL}`,
    };
    const lines = [
      ...threadLines([FACTS]),
      ...detailLines({ ...FACTS, waiting: true, steps: [{ ...step, changedFiles: [EVIL], summary: EVIL }] }),
      ...patchLines([change, { ...change, patch: undefined }], PLAIN),
      ...rewindLines({
        restored: [change],
        conflicts: [{ path: EVIL, place: EVIL, reason: EVIL }],
        notCovered: [
          { place: EVIL, path: EVIL, reason: EVIL },
          { place: EVIL, command: EVIL, reason: EVIL },
        ],
      }),
      ...blameLines({
        ...{ path: EVIL, place: EVIL },
        lines: [
          {
            line: 1,
            text: EVIL,
            by: { checkpointId: "x", at: new Date(0).toISOString(), agent: EVIL, command: EVIL },
          },
        ],
      }),
    ];
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
    expect(lines.join("\n")).toContain("evil\\x1b[2J\\u202e");
  });

  it("an id that is a UUID is short, any other whole", () => {
    expect(shortId("3f19d212-a4ad-473f-adc3-68a4fb26948d")).toBe("3f19d212");
    expect(shortId("my thread")).toBe("my thread");
  });

  it("a rewind names files with their directory, what stays, and what it cannot put back", () => {
    const place = "disk:/home/me/project";
    const change = { path: "/a", kind: "changed", before: "", after: "x", patch: "" } as const;
    const lines = rewindLines({
      restored: [change, { ...change, place, kind: "created" }],
      conflicts: [{ path: "/b", place, reason: "It was changed." }],
      notCovered: [
        { place: "disk:/other", path: "/c", reason: "Not named." },
        { place, command: "make all", reason: "Not kept." },
        ...Array.from({ length: 60 }, (_, i) => ({ place, path: `/${i}`, reason: "Changed." })),
      ],
    });
    expect(lines.slice(0, 6)).toEqual([
      "  ~ /a",
      "  + /a in /home/me/project",
      "  ! /b in /home/me/project is not changed: It was changed.",
      "Not restored:",
      "  ? /c in /other: Not named.",
      "  ? $ make all: Not kept.",
    ]);
    expect(lines.at(-1)).toBe("  … and 12 more");
  });

  it("a patch is coloured as git does it", () => {
    const patch = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-old\n+new\n";
    const change = { path: "/x", kind: "changed", before: "old", after: "new", patch } as const;
    const colours = pc.createColors(true);
    expect(patchLines([change], colours)).toEqual([
      colours.bold("--- a/x"),
      colours.bold("+++ b/x"),
      colours.cyan("@@ -1,1 +1,1 @@"),
      colours.red("-old"),
      colours.green("+new"),
    ]);
  });
});

describe("an id in a command to type again", () => {
  it.each([
    ["3f19d212-a4ad-473f-adc3-68a4fb26948d", "3f19d212"],
    ["long-".repeat(40), "long-".repeat(40)],
    ["two words", "'two words'"],
    ["it's $HOME", String.raw`'it'\''s $HOME'`],
    [EVIL, "'evil\\x1b[2J\\u202e\\n\\x07'"],
  ])("%j", (id, word) => {
    expect(idWord(id)).toBe(word);
  });
});
