import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { commentsIn, hasStandIn, lostComments, repairsOf, standInFor, withStandIns } from "./comments.ts";

const texts = (text: string): string[] => commentsIn(text).map((comment) => comment.text);

describe("commentsIn", () => {
  it.each<[string, string, string[]]>([
    ["none", "a < b --> c", []],
    ["one", "a <!-- x --> b", ["<!-- x -->"]],
    ["over several lines", "a\n<!-- x\ny -->\nb", ["<!-- x\ny -->"]],
    ["empty ones", "<!----><!--><!-- -->", ["<!---->", "<!-->", "<!-- -->"]],
    ["one that is never closed", "<!-- a --> <!-- b", ["<!-- a -->"]],
    ["an opening inside one", "<!-- a <!-- b --> c -->", ["<!-- a <!-- b -->"]],
    ["in a code block", "```html\n<!-- code -->\n```\n<!-- x -->", ["<!-- x -->"]],
    [
      "before and behind code blocks",
      "<!-- a -->\n~~~\n<!-- b -->\n~~~\n<!-- c -->",
      ["<!-- a -->", "<!-- c -->"],
    ],
    ["in a code block that is not closed", "<!-- a -->\n````\n```\n<!-- b -->", ["<!-- a -->"]],
    [
      "around what looks like a fence",
      "<!--\n```\n-->\n<!-- b -->\n```\n<!-- c -->",
      ["<!--\n```\n-->", "<!-- b -->"],
    ],
    ["with Windows line ends", "```\r\n<!-- a -->\r\n```\r\n<!-- b -->\r\n", ["<!-- b -->"]],
  ])("finds %s", (_name, text, expected) => expect(texts(text)).toEqual(expected));

  it.each([
    ["openings", "<!--"],
    ["fences", "```\n"],
    ["empty comments", "<!---->"],
  ])("takes time in proportion to the text, also for a million characters of %s", async (_name, part) => {
    const text = part.repeat(1_000_000 / part.length);
    const found = await withinCpuLimit("comments are found in a million hostile characters", () =>
      commentsIn(text),
    );
    expect(found.length).toBe(part === "<!---->" ? 142_857 : 0);
  });
});

describe("stand-ins", () => {
  it("take the place of comments and name them by their content", () => {
    const text = "# A\n<!-- id: 7 -->\nb <!-- $& --> c <!-- id: 7 -->\n";
    const shown = withStandIns(text);
    expect(shown).not.toMatch(/id: 7|\$&/);
    expect(shown).toBe(
      `# A\n${standInFor("<!-- id: 7 -->")}\nb ${standInFor("<!-- $& -->")} c ${standInFor("<!-- id: 7 -->")}\n`,
    );
    expect(hasStandIn(shown)).toBe(true);
    expect(hasStandIn(text)).toBe(false);
  });

  it("that were written back are to be replaced by the comment, or removed where it still is", () => {
    const [a, b] = ["<!-- a -->", "<!-- b -->"];
    const text = `${standInFor(a)} ${standInFor(b)} ${b} ${standInFor("<!-- unknown -->")}`;
    expect(repairsOf(text, [a, b])).toEqual([
      { standIn: standInFor(a), comment: a },
      { standIn: standInFor(b), comment: "" },
    ]);
    expect(repairsOf("no stand-in", [a, b])).toEqual([]);
  });

  it("of one comment that was there twice all come back", () => {
    const mark = "<!-- end -->";
    expect(repairsOf(`${mark} ${standInFor(mark)}`, [mark, mark])).toEqual([
      { standIn: standInFor(mark), comment: mark },
    ]);
  });

  it("that a person wrote as comments are comments", () => {
    const [a] = ["<!-- a -->"];
    expect(repairsOf(standInFor(a), [a, standInFor(a)])).toEqual([]);
  });
});

describe("lostComments", () => {
  it.each<[string, string, string[]]>([
    ["none that is still there", "x <!-- a --> y <!-- b -->", []],
    ["the one that is gone", "x <!-- a --> y", ["<!-- b -->"]],
    ["all", "", ["<!-- a -->", "<!-- b -->"]],
    ["none where a program renewed its mark", "<!-- a2 --> <!-- b -->", []],
  ])("names %s", (_name, text, expected) =>
    expect(lostComments(text, ["<!-- a -->", "<!-- b -->"])).toEqual(expected),
  );
});
