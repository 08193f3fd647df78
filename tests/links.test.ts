import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const documents = [
  ...["README.md", "CHANGELOG.md", "AGENTS.md", "examples/README.md", "bench/README.md"],
  ...["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
];

/** As the place where the repository is read makes them: small letters, no punctuation, dashes for spaces. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

function anchorsIn(path: string): string[] {
  const text = readFileSync(path, "utf8").replace(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
}

test.each(documents)("every link of %s within the repository leads somewhere", (document) => {
  const text = readFileSync(document, "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const broken = [...text.matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)].flatMap(([, link = ""]) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : normalize(join(dirname(document), path));
    if (!existsSync(target)) return [link];
    return anchor && !anchorsIn(target).includes(anchor) ? [link] : [];
  });
  expect(broken).toEqual([]);
});
