import type { FileChange } from "@deepwright/checkpoint";
import pc from "picocolors";
import { describe, expect, it } from "vitest";
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
        conflicts: [{ path: EVIL, reason: EVIL }],
        checkpointId: undefined,
        previousId: "x",
      }),
    ];
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
    expect(lines.join("\n")).toContain("evil\\x1b[2J\\u202e");
  });

  it("an id that is a UUID is short, any other whole", () => {
    expect(shortId("3f19d212-a4ad-473f-adc3-68a4fb26948d")).toBe("3f19d212");
    expect(shortId("my thread")).toBe("my thread");
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
