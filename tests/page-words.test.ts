/** Texts of the page stand in its words files, which are all that a translator needs. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { projectFiles } from "../scripts/project-files.ts";
import { type Node, within } from "../scripts/syntax-tree.ts";

/** Attributes that people read or hear. */
const READ = /^(?:aria-label|aria-description|title|placeholder|alt|label)$/;
/** Keys and the beginning of addresses are the same in every language. */
const SAME = /^(?:Ctrl K|https:\/\/)$/;

function textsIn(source: string): readonly string[] {
  const texts = within(parseAst(source, { lang: "tsx" }) as unknown as Node).map(({ node, parent }) => {
    if (node.type === "JSXText") return String(node.value);
    const isRead = parent.type === "JSXAttribute" && READ.test(parent.name?.name);
    return isRead && typeof node.value === "string" ? node.value : "";
  });
  return texts.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text) && !SAME.test(text));
}

test("views of the page have no text of their own", () => {
  const views = projectFiles("packages/web/src").filter((path) => path.endsWith(".tsx"));
  expect(views.length).toBeGreaterThan(50);
  const found = views.map((path) => [path, textsIn(readFileSync(path, "utf8"))] as const);
  expect(found.filter(([, texts]) => texts.length > 0)).toEqual([]);
});

test.each([
  "<p>Some text</p>",
  "<b onClick={() => 1}>\n  Text {1}\n</b>",
  '<button aria-label="Close it" />',
])("the text of %s is found", (source) => expect(textsIn(source)).toHaveLength(1));
